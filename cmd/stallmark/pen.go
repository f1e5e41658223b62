package main

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// pen writes text that fits a screen. Everything that comes from a report is
// escaped here.
type pen struct {
	strings.Builder
	screen screen
}

// keyWidth is the column in which the text of a row begins.
const keyWidth = 22

func (p *pen) line(format string, args ...any) {
	fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

// bold makes text stand out on a terminal.
func (p *pen) bold(s string) string {
	if !p.screen.terminal {
		return s
	}
	return "\x1b[1m" + s + "\x1b[0m"
}

// gap leaves one empty line.
func (p *pen) gap() {
	if !strings.HasSuffix(p.String(), "\n\n") {
		p.WriteByte('\n')
	}
}

// section begins a part of the report.
func (p *pen) section(title string) {
	p.gap()
	p.line("%s", p.bold(title))
}

// heading writes a verdict.
func (p *pen) heading(word, text string) {
	body := pen{screen: p.screen}
	body.wrap("", "  ", word+" "+oneLine(text))
	for line := range strings.Lines(body.String()) {
		p.line("%s", p.bold(strings.TrimSuffix(line, "\n")))
	}
}

// row writes a key and text that wraps in its column. On a narrow screen, or
// after a long key, the text has lines of its own.
func (p *pen) row(key, text string) {
	key = oneLine(key)
	indent := strings.Repeat(" ", keyWidth)
	if p.screen.width < 3*keyWidth || utf8.RuneCountInString(key) > keyWidth-3 {
		p.line("  %s", key)
		p.wrap("      ", "      ", oneLine(text))
		return
	}
	first := "  " + key + strings.Repeat(" ", keyWidth-2-utf8.RuneCountInString(key))
	p.wrap(first, indent, oneLine(text))
}

// paragraph writes flowing text; single line breaks in it are spaces.
func (p *pen) paragraph(first, text string) {
	p.wrap(first, strings.Repeat(" ", len(first)), oneLine(strings.Join(strings.Fields(text), " ")))
}

// field writes a labelled sentence of a remedy, if there is one.
func (p *pen) field(name, text string) {
	if text = strings.TrimSpace(text); text != "" {
		p.wrap(fmt.Sprintf("      %-6s ", name+":"), strings.Repeat(" ", 13), oneLine(strings.Join(strings.Fields(text), " ")))
	}
}

// command writes something to copy: never wrapped.
func (p *pen) command(name, text string) {
	label := fmt.Sprintf("      %-6s ", name+":")
	for line := range strings.Lines(strings.TrimSpace(text)) {
		p.line("%s%s", label, oneLine(strings.TrimRight(line, "\n")))
		label = strings.Repeat(" ", 13)
	}
}

// wrap breaks text at spaces so that lines fit the screen. A word longer than a
// line stays whole.
func (p *pen) wrap(first, indent, text string) {
	column := utf8.RuneCountInString(first)
	p.WriteString(first)
	empty := true
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		if !empty && column+1+n > p.screen.width {
			p.WriteString("\n" + indent)
			column, empty = utf8.RuneCountInString(indent), true
		}
		if !empty {
			p.WriteByte(' ')
			column++
		}
		p.WriteString(word)
		column += n
		empty = false
	}
	p.WriteByte('\n')
}
