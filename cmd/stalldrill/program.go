package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"

	"stallmark/cmd/stalldrill/drill"
	"stallmark/cmd/stalldrill/host"
)

// Exit codes.
const (
	exitOK       = 0
	exitNot      = 1 // a drill was cut short, or the kernel showed no sign of it
	exitUsage    = 2 // a mistake on the command line, or the machine cannot bear it
	exitRestored = 3 // something could not be restored: it is named
)

// program is one run of the command.
type program struct {
	host    host.Host
	program string // our own executable
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
}

// command is a subcommand.
type command struct {
	name    string
	args    string
	summary string
	hidden  bool
	run     func(ctx context.Context, p *program, o *options, args []string) (int, error)
}

func commands() []command {
	return []command{
		{"list", "", "the modes, and why one cannot run here", false, runList},
		{"run", "MODE...", "provoke these stalls, one after another", false, runModes},
		{"all", "", "provoke every mode that can run here", false, runAll},
		{"matrix", "[MODE...]", "run drills beside live recorders: what was provoked against what was said", false, runMatrix},
		{"ticker", "", "print how late a bare ticker is, to compare a recorder's beat against", false, runTicker},
		{"restore", "DIR", "take back what a killed drill and its killed guard have left in their folder", false, runRestore},
		{drill.WorkCommand, "", "", true, runWork},
		{drill.GuardCommand, "", "", true, runGuard},
	}
}

// run parses the command line, runs the subcommand and returns the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	o, flags := newOptions()
	cmd, rest, err := parse(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		p.help(p.stdout, flags)
		return exitOK
	case err != nil:
		fmt.Fprintf(p.stderr, "stalldrill: %v\nTry: stalldrill --help\n", err)
		return exitUsage
	}
	code, err := cmd.run(ctx, p, o, rest)
	if err != nil {
		fmt.Fprintf(p.stderr, "stalldrill: %v\n", err)
		code = max(code, exitUsage)
	}
	return code
}

// parse finds the subcommand; options may stand before, between and after the
// arguments.
func parse(flags *flag.FlagSet, args []string) (command, []string, error) {
	var words []string
	for {
		if err := flags.Parse(args); err != nil {
			return command{}, nil, err
		}
		if args = flags.Args(); len(args) == 0 {
			break
		}
		words = append(words, args[0])
		args = args[1:]
	}
	if len(words) == 0 || words[0] == "help" {
		return command{}, nil, flag.ErrHelp
	}
	all := commands()
	i := slices.IndexFunc(all, func(c command) bool { return c.name == words[0] })
	if i < 0 {
		return command{}, nil, fmt.Errorf("there is no command %q", words[0])
	}
	return all[i], words[1:], nil
}

// help is the text of --help.
func (p *program) help(w io.Writer, flags *flag.FlagSet) {
	fmt.Fprint(w, "stalldrill provokes the stalls that Stallmark recognises, for a bounded time, on this machine.\n\nUsage: stalldrill COMMAND [options]\n\nCommands:\n")
	for _, c := range commands() {
		if !c.hidden {
			fmt.Fprintf(w, "  %-18s %s\n", c.name+" "+c.args, c.summary)
		}
	}
	fmt.Fprint(w, "\nOptions:\n")
	flags.VisitAll(func(f *flag.Flag) {
		name, usage := flag.UnquoteUsage(f)
		line := fmt.Sprintf("  %-20s %s", "--"+f.Name+" "+name, usage)
		if f.DefValue != "" && f.DefValue != "false" {
			line += " [" + f.DefValue + "]"
		}
		fmt.Fprintln(w, line)
	})
	fmt.Fprint(w, "\nEvery setting that a drill changes is restored: at its end, on Ctrl-C, and after kill -9 by a guard process.\n")
}
