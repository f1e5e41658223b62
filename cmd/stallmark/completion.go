package main

import (
	"context"
	"fmt"
	"strings"
)

func completionCommand() command {
	return command{
		name:    "completion",
		args:    "bash|zsh|fish",
		summary: "Print what completes command lines in a shell",
		help: `
"make install" puts it where shells look. By hand, for this shell only:
  source <(stallmark completion bash)
  source <(stallmark completion zsh)
  stallmark completion fish | source`,
		run: runCompletion,
	}
}

func runCompletion(_ context.Context, p *program, _ *options, args []string) (int, error) {
	if len(args) != 1 {
		return exitUsage, usagef("completion: say bash, zsh or fish")
	}
	var text string
	switch args[0] {
	case "bash":
		text = bashCompletion(words())
	case "zsh":
		text = zshBegin + bashCompletion(words()) + zshEnd
	case "fish":
		text = fishCompletion(words())
	default:
		return exitUsage, usagef("completion: there is no %q; say bash, zsh or fish", args[0])
	}
	_, err := fmt.Fprint(p.stdout, text)
	return exitOK, err
}

// What zsh needs around the script for bash. Where it is loaded at the first use,
// as the function _stallmark, it must answer that use too.
const (
	zshBegin = "#compdef stallmark\nautoload -U +X bashcompinit && bashcompinit\n"
	zshEnd   = "[[ ${funcstack[1]} = _stallmark ]] && _bash_complete -o filenames -F _stallmark_words\n"
)

// commandWords is what may stand on the command line of a command.
type commandWords struct {
	command
	table []option
	first []string // what its first argument may be; none: any file
}

// words lists the commands that people type, and those without a name: the
// default's options may stand alone.
func words() []commandWords {
	var list []commandWords
	for _, c := range commands() {
		if c.hidden {
			continue
		}
		w := commandWords{command: c, table: newOptions().table(c)}
		if head, _, _ := strings.Cut(c.args, " "); strings.Contains(head, "|") {
			w.first = strings.Split(head, "|")
		}
		list = append(list, w)
	}
	return list
}

// flags lists the options of a command as they are typed.
func (c commandWords) flags() string {
	var flags []string
	for _, o := range c.table {
		flags = append(flags, o.flag())
	}
	return strings.Join(append(flags, "--help"), " ")
}

// flag is an option as it is typed.
func (o option) flag() string {
	if len(o.name) == 1 {
		return "-" + o.name
	}
	return "--" + o.name
}

// taking is a pattern of the shell's case: the options, of all commands, that
// take a value of the wanted kind.
func taking(list []commandWords, want func(arg string) bool) string {
	var flags []string
	seen := map[string]bool{}
	for _, c := range list {
		for _, o := range c.table {
			if o.arg != "" && want(o.arg) && !seen[o.name] {
				seen[o.name] = true
				flags = append(flags, o.flag())
			}
		}
	}
	return strings.Join(flags, "|")
}

func isDirArg(arg string) bool   { return arg == "DIR" }
func isFileArg(arg string) bool  { return arg == "FILE" }
func isOtherArg(arg string) bool { return !isDirArg(arg) && !isFileArg(arg) }
func isAnyArg(string) bool       { return true }

// bashCompletion is a script for bash, and for zsh's bashcompinit.
func bashCompletion(list []commandWords) string {
	var names []string
	var cases strings.Builder
	for _, c := range list {
		names = append(names, c.name)
		fmt.Fprintf(&cases, "    %s) options=%q words=%q ;;\n", c.name, c.flags(), strings.Join(c.first, " "))
	}
	return fmt.Sprintf(`_stallmark_words() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= argument= options words i
  COMPREPLY=()
  case $prev in
    %s) COMPREPLY=($(compgen -d -- "$cur")); return ;;
    %s) COMPREPLY=($(compgen -f -- "$cur")); return ;;
    %s) return ;;
  esac
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      %s) ((i++)) ;;
      -*) ;;
      *) if [[ -z $command ]]; then command=${COMP_WORDS[i]}; else argument=${COMP_WORDS[i]}; fi ;;
    esac
  done
  case $command in
%s    "") options=%q words=%q ;;
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
  elif [[ -n $words && -z $argument ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  else
    COMPREPLY=($(compgen -f -- "$cur"))
  fi
}
complete -o filenames -F _stallmark_words stallmark
`, taking(list, isDirArg), taking(list, isFileArg), taking(list, isOtherArg), taking(list, isAnyArg),
		cases.String(), commandWords{table: newOptions().fileTable()}.flags(), strings.Join(names, " "))
}

// fishCompletion is a script for fish.
func fishCompletion(list []commandWords) string {
	var b strings.Builder
	fmt.Fprintln(&b, "complete -c stallmark -n __fish_use_subcommand -f")
	for _, c := range list {
		fmt.Fprintf(&b, "complete -c stallmark -n __fish_use_subcommand -a %s -d %s\n", c.name, fishQuote(c.summary))
	}
	for _, c := range list {
		when := fishQuote("__fish_seen_subcommand_from " + c.name)
		if len(c.first) > 0 {
			fmt.Fprintf(&b, "complete -c stallmark -n %s -f -a %s\n", when, fishQuote(strings.Join(c.first, " ")))
		}
		for _, o := range c.table {
			fmt.Fprintf(&b, "complete -c stallmark -n %s %s -d %s\n", when, fishOption(o), fishQuote(o.help))
		}
	}
	return b.String()
}

// fishOption is how fish is told of an option and its value.
func fishOption(o option) string {
	name := "-l " + o.name
	if len(o.name) == 1 {
		name = "-s " + o.name
	}
	switch {
	case isDirArg(o.arg):
		return name + " -x -a '(__fish_complete_directories)'"
	case isFileArg(o.arg):
		return name + " -r -F"
	case o.arg != "":
		return name + " -x"
	}
	return name
}

// fishQuote quotes a word for fish.
func fishQuote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}
