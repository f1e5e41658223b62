package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// Exit codes, the same for every subcommand.
const (
	exitOK      = 0 // nothing found
	exitFound   = 1 // diagnose: findings; rules check and test: mistakes
	exitUsage   = 2 // usage, unreadable input, or it could not run
	exitUnknown = 3 // diagnose: nothing fired, but a critical cause could not be judged
)

// program is one run of the command: where it writes, and its clock.
type program struct {
	version string
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	now     func() time.Time
	screen  screen
	args    []string         // of the command line
	hangups <-chan os.Signal // SIGHUP, for serve; nil: those of this process
}

// command is a subcommand.
type command struct {
	name    string
	args    string // of the usage line
	summary string
	help    string // what the options do not say
	hidden  bool
	options func(*options) []option // its own, besides the global ones
	run     func(ctx context.Context, p *program, o *options, args []string) (int, error)
}

func commands() []command {
	return []command{
		serveCommand(), diagnoseCommand(), recordCommand(), auditCommand(), snapshotCommand(), gcCommand(), postmortemCommand(), rulesCommand(), completionCommand(), versionCommand(),
		manualCommand(), childCommand(),
	}
}

// defaultCommand runs when none is named.
const defaultCommand = "serve"

// usageError is a mistake on the command line or in the configuration file.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run parses the command line, runs the subcommand and returns the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	p.args = args
	o := newOptions()
	cmd, rest, err := p.parse(o, args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(p.stdout, helpText(cmd, o))
		return exitOK
	}
	if err == nil {
		err = o.loadConfig()
	}
	if err != nil {
		fmt.Fprintf(p.stderr, "stallmark: %s\nTry: stallmark %s --help\n", oneLine(err.Error()), cmd.name)
		return exitUsage
	}
	code, err := cmd.run(ctx, p, o, rest)
	if err != nil {
		fmt.Fprintf(p.stderr, "stallmark: %s\n", cleanLines(err.Error()))
		if code == exitOK {
			code = exitUsage
		}
	}
	return code
}

// reread gives the options as they would be if the program were started now.
func (p *program) reread() (*options, error) {
	o := newOptions()
	if _, _, err := p.parse(o, p.args); err != nil {
		return nil, err
	}
	return o, o.loadConfig()
}

// parse finds the subcommand and sets the options. Global options may stand
// before or after it, and options may stand between arguments.
func (p *program) parse(o *options, args []string) (command, []string, error) {
	all := commands()
	cmd := find(all, defaultCommand)
	before := newFlags(o.table(cmd))
	if err := before.Parse(args); err != nil {
		return command{}, nil, asUsage(err)
	}
	rest := before.Args()
	if len(rest) > 0 {
		if rest[0] == "help" {
			return find(all, strings.Join(rest[1:], " ")), nil, flag.ErrHelp
		}
		if cmd = find(all, rest[0]); cmd.name == "" {
			return command{}, nil, usagef("there is no command %q", rest[0])
		}
		rest = rest[1:]
	}
	flags := newFlags(o.table(cmd))
	var misplaced string
	before.Visit(func(f *flag.Flag) {
		if flags.Lookup(f.Name) == nil {
			misplaced = f.Name
		}
	})
	if misplaced != "" {
		return cmd, nil, usagef("--%s is no option of %s", misplaced, cmd.name)
	}
	positional, err := parseMixed(flags, rest)
	o.noteSet(before)
	o.noteSet(flags)
	return cmd, positional, asUsage(err)
}

// parseMixed parses options that may stand between arguments; "--" ends them.
func parseMixed(flags *flag.FlagSet, args []string) ([]string, error) {
	var positional []string
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		left := flags.Args()
		if len(left) == 0 {
			return positional, nil
		}
		if n := len(args) - len(left); n > 0 && args[n-1] == "--" {
			return append(positional, left...), nil
		}
		positional = append(positional, left[0])
		args = left[1:]
	}
}

func asUsage(err error) error {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return err
	}
	return usageError{err}
}

// find gives the command of a name, or one without a name.
func find(all []command, name string) command {
	if i := slices.IndexFunc(all, func(c command) bool { return c.name == name }); i >= 0 {
		return all[i]
	}
	return command{}
}

// newFlags makes a flag set of options that prints nothing by itself.
func newFlags(table []option) *flag.FlagSet {
	flags := flag.NewFlagSet("stallmark", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	for _, opt := range table {
		flags.Var(opt.value, opt.name, opt.help)
	}
	return flags
}
