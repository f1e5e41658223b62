package rules

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// reader walks the YAML tree of one file and notes every mistake with its
// place, instead of stopping at the first.
type reader struct {
	file     string
	lines    []string
	lets     lets // what expressions may name
	problems []Problem
}

func (r *reader) fail(n *yaml.Node, format string, args ...any) {
	r.failAt(n.Line, n.Column, format, args...)
}

func (r *reader) failAt(line, column int, format string, args ...any) {
	r.problems = append(r.problems, Problem{File: r.file, Line: line, Column: column, Message: fmt.Sprintf(format, args...)})
}

// yamlLine finds the line in an error of the YAML library, and yamlGrammar the
// errors of its parser, which count lines from 0, unlike those of its scanner.
var (
	yamlLine    = regexp.MustCompile(`line (\d+):? ?`)
	yamlGrammar = regexp.MustCompile(`did not find expected (<|node content|'-' indicator|key|',')`)
)

// yamlError takes an error of the YAML library apart. Errors at the very
// beginning have no line.
func yamlError(err error) (line int, message string) {
	line, message = 1, strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine.FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = strings.TrimPrefix(message, m[0])
		if yamlGrammar.MatchString(message) {
			line++
		}
	}
	return max(line, 1), message
}

// pinpoint gives the place of a mistake of which the YAML library tells the line
// at best: tabs in an indentation, where it is a line behind; aliases and control
// characters, where it tells none.
func (r *reader) pinpoint(line int, message string) (int, int) {
	switch {
	case strings.Contains(message, "tab character"):
		for i := line; i <= min(line+1, len(r.lines)); i++ {
			text := r.lines[i-1]
			if tab := strings.IndexByte(text, '\t'); tab >= 0 && strings.TrimSpace(text[:tab]) == "" {
				return i, tab + 1
			}
		}
	case strings.HasPrefix(message, "unknown anchor '"):
		name, _, _ := strings.Cut(strings.TrimPrefix(message, "unknown anchor '"), "'")
		for i, text := range r.lines {
			if at := strings.Index(text, "*"+name); at >= 0 {
				return i + 1, at + 1
			}
		}
	case strings.Contains(message, "control characters"):
		for i, text := range r.lines {
			if at := strings.IndexFunc(text, isControl); at >= 0 {
				return i + 1, at + 1
			}
		}
	}
	return line, r.indentOf(line) + 1
}

// isControl reports whether YAML does not allow a character.
func isControl(c rune) bool { return c < ' ' && c != '\t' && c != '\r' || c == 0x7f }

// parse reads the file's one document. It gives nil after a mistake.
func (r *reader) parse(data []byte) *yaml.Node {
	if !utf8.Valid(data) {
		r.failAt(1, 1, "not UTF-8 text")
		return nil
	}
	r.lines = strings.Split(string(data), "\n")
	var doc, more yaml.Node
	documents := yaml.NewDecoder(bytes.NewReader(data))
	if err := documents.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		line, message := yamlError(err)
		line, column := r.pinpoint(min(line, len(r.lines)), message)
		r.failAt(line, column, "%s", message)
		return nil
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		r.failAt(1, 1, "the file is empty")
		return nil
	}
	switch err := documents.Decode(&more); {
	case errors.Is(err, io.EOF):
	case err != nil:
		line, message := yamlError(err)
		line, column := r.pinpoint(min(line, len(r.lines)), message)
		r.failAt(line, column, "%s", message)
		return nil
	case len(more.Content) == 1 && more.Content[0].Tag != "!!null":
		r.fail(more.Content[0], "a second document begins here: one file, one of them")
		return nil
	}
	return doc.Content[0]
}

// mapping calls the function of each key that is present. Unknown and repeated
// keys are mistakes.
func (r *reader) mapping(n *yaml.Node, fields map[string]func(*yaml.Node)) {
	r.pairs(n, func(key, value *yaml.Node) {
		field, ok := fields[key.Value]
		if !ok {
			r.fail(key, "unknown key %q", key.Value)
			return
		}
		field(value)
	})
}

// pairs calls f for each key and value of a mapping.
func (r *reader) pairs(n *yaml.Node, f func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.fail(n, "want a mapping of keys to values, got %s", kindName(n))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode:
			r.fail(key, "want a plain key, got %s", kindName(key))
		case seen[key.Value]:
			r.fail(key, "key %q is there twice", key.Value)
		default:
			seen[key.Value] = true
			f(key, value)
		}
	}
}

// list calls f for each element.
func (r *reader) list(n *yaml.Node, f func(*yaml.Node)) {
	if n.Kind != yaml.SequenceNode {
		r.fail(n, "want a list, got %s", kindName(n))
		return
	}
	for _, e := range n.Content {
		f(e)
	}
}

// text is a scalar's text, without the line breaks at its end.
func (r *reader) text(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		r.fail(n, "want a text, got %s", kindName(n))
		return ""
	}
	s := strings.TrimRight(n.Value, "\r\n ")
	if s == "" {
		r.fail(n, "want a text, got nothing")
	}
	return s
}

func (r *reader) texts(n *yaml.Node) []string {
	var out []string
	r.list(n, func(e *yaml.Node) { out = append(out, r.text(e)) })
	return out
}

func (r *reader) textMap(n *yaml.Node) map[string]string {
	out := map[string]string{}
	r.pairs(n, func(key, value *yaml.Node) { out[key.Value] = r.text(value) })
	return out
}

// word is a text out of a closed list.
func (r *reader) word(n *yaml.Node, allowed ...string) string {
	s := r.text(n)
	if s != "" && !slices.Contains(allowed, s) {
		r.fail(n, "%q: want one of %s", s, strings.Join(allowed, ", "))
		return ""
	}
	return s
}

// duration is a time like 500ms, 2s or 1m, within the bounds.
func (r *reader) duration(n *yaml.Node, least, most time.Duration) time.Duration {
	s := r.text(n)
	if s == "" {
		return 0
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		r.fail(n, "%q: want a duration like 500ms, 2s or 1m", s)
	case d < least || d > most:
		r.fail(n, "%s: want between %v and %v", s, least, most)
	default:
		return d
	}
	return 0
}

func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias (aliases are not supported)"
	}
	if n.Tag == "!!null" {
		return "nothing"
	}
	return fmt.Sprintf("%.40q", n.Value)
}

// place is the line and column in the file of a byte offset in a scalar's text.
// Folded and quoted texts of several lines give their beginning.
func (r *reader) place(n *yaml.Node, offset int) (line, column int) {
	if offset < 0 || offset > len(n.Value) {
		offset = min(max(offset, 0), len(n.Value))
	}
	before := n.Value[:offset]
	start := strings.LastIndexByte(before, '\n') + 1
	row, col := strings.Count(before, "\n"), utf8.RuneCountInString(before[start:])
	switch {
	case n.Style&yaml.LiteralStyle != 0:
		return n.Line + 1 + row, r.blockIndent(n) + col + 1
	case n.Style&yaml.FoldedStyle != 0 || row > 0:
		return n.Line, n.Column
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		col++
	}
	return n.Line, n.Column + col
}

// blockIndent is the indentation of a literal block: that of its first line
// that is not blank, less what the text itself begins with.
func (r *reader) blockIndent(n *yaml.Node) int {
	for i, text := range strings.Split(n.Value, "\n") {
		if strings.TrimSpace(text) == "" {
			continue
		}
		own := len(text) - len(strings.TrimLeft(text, " "))
		return max(0, r.indentOf(n.Line+1+i)-own)
	}
	return 0
}

// indentOf counts the spaces at the beginning of a line of the file.
func (r *reader) indentOf(line int) int {
	if line < 1 || line > len(r.lines) {
		return 0
	}
	s := r.lines[line-1]
	return len(s) - len(strings.TrimLeft(s, " "))
}
