package main

import (
	"fmt"
	"strings"
)

// commandLineOnly explains the mark in lists of options.
const commandLineOnly = "\n(*) on the command line only, not in the configuration file\n"

// helpText is the help of a command, or of the whole program for one without a
// name.
func helpText(c command, o *options) string {
	var b strings.Builder
	table := o.global()
	if c.name == "" {
		fmt.Fprint(&b, "Stallmark tells why a message broker on this host just stalled.\n\n")
		fmt.Fprint(&b, "Usage: stallmark [options] [command] [options] [arguments]\n\nCommands (serve, if none is named):\n")
		for _, c := range commands() {
			if !c.hidden {
				fmt.Fprintf(&b, "  %-10s %s\n", c.name, c.summary)
			}
		}
		fmt.Fprint(&b, "\nstallmark COMMAND --help says more about one of them.\n")
		writeOptions(&b, "Options of every command", table)
		fmt.Fprint(&b, commandLineOnly)
		return b.String()
	}
	usage := strings.TrimSpace("stallmark " + c.name + " [options] " + c.args)
	fmt.Fprintf(&b, "Usage: %s\n\n%s.\n", usage, c.summary)
	if c.help != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(c.help))
	}
	if c.options != nil {
		writeOptions(&b, "Options", c.options(o))
	}
	writeOptions(&b, "Options of every command", table)
	fmt.Fprint(&b, commandLineOnly)
	return b.String()
}

// writeOptions lists options with their defaults; (*) marks what the
// configuration file cannot have.
func writeOptions(b *strings.Builder, title string, table []option) {
	fmt.Fprintf(b, "\n%s:\n", title)
	for _, opt := range table {
		fmt.Fprintf(b, "  %-25s %s\n", strings.TrimSpace(opt.flag()+" "+opt.arg), opt.about())
	}
}

// about is an option's help with its mark and its default.
func (o option) about() string {
	text := o.help
	if o.local {
		text += " (*)"
	}
	if def := o.value.String(); def != "" && def != "false" && def != "0s" {
		text += " [" + def + "]"
	}
	return text
}
