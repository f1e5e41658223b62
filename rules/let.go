package rules

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// letFile is the file of a folder that holds the names for all its files; it is
// no signature.
const letFile = "let.yaml"

// maxExpanded bounds an expression whose names are filled in, in bytes: names
// that use names can double at every step.
const maxExpanded = 32 << 10

// lets is the named expressions that a file may use, filled in themselves.
type lets map[string]string

// let reads a mapping of names to expressions into the names that the reader
// knows. An expression may use the names above it.
func (r *reader) let(n *yaml.Node) {
	known := lets{}
	maps.Copy(known, r.lets)
	r.lets = known
	r.pairs(n, func(key, value *yaml.Node) {
		switch {
		case !validLet.MatchString(key.Value):
			r.fail(key, "%q: want a name of lower-case letters, digits and _", key.Value)
		case known[key.Value] != "":
			r.fail(key, "the name %q is taken: %s has it", key.Value, letFile)
		default:
			if expr := r.promql(value); expr != "" {
				known[key.Value] = expr
			}
		}
	})
}

// letNames reads what a file defines, before anything that uses it.
func (r *reader) letNames(n *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "let" {
			r.let(n.Content[i+1])
		}
	}
}

// parseLets reads a folder's file of names.
func parseLets(file string, data []byte, known lets) (lets, []Problem) {
	r := &reader{file: file, lets: known}
	n := r.parse(data)
	if n == nil {
		return known, r.problems
	}
	r.let(n)
	sortProblems(r.problems)
	if len(r.problems) > 0 {
		return known, r.problems
	}
	return r.lets, nil
}

func isLetFile(file string) bool { return path.Base(file) == letFile }

// expansion is an expression whose names are filled in, and where its parts
// come from.
type expansion struct {
	text  string
	parts []filledIn
}

// filledIn is one name: bytes from to to of the text stand for what begins at
// source in the original.
type filledIn struct{ from, to, source, length int }

// original is the place in the original of a byte of the text.
func (e expansion) original(offset int) int {
	shift := 0
	for _, p := range e.parts {
		switch {
		case offset < p.from:
			return offset - shift
		case offset < p.to:
			return p.source
		}
		shift += (p.to - p.from) - p.length
	}
	return offset - shift
}

// letError is a name that cannot be filled in, with its place.
type letError struct {
	offset int
	text   string
}

func (e *letError) Error() string { return e.text }

// expand fills in the names of an expression ($name), outside of quotes and
// comments.
func (known lets) expand(s string) (expansion, error) {
	var out strings.Builder
	var e expansion
	for i := 0; i < len(s); {
		end := i + 1
		switch s[i] {
		case '"', '\'', '`':
			end = endOfQuote(s, i)
		case '#':
			if end = strings.IndexByte(s[i:], '\n') + i; end < i {
				end = len(s)
			}
		case '$':
			name := letName(s[i+1:])
			value, ok := known[name]
			if !ok {
				return e, &letError{i, known.unknown(name)}
			}
			from := out.Len()
			out.WriteString("(" + value)
			if strings.Contains(value, "#") { // a comment at its end
				out.WriteByte('\n')
			}
			out.WriteByte(')')
			end = i + 1 + len(name)
			e.parts = append(e.parts, filledIn{from, out.Len(), i, end - i})
			i = end
			continue
		}
		out.WriteString(s[i:end])
		i = end
	}
	if out.Len() > maxExpanded && len(e.parts) > 0 {
		return e, &letError{e.parts[0].source, fmt.Sprintf("%d bytes once the names are filled in: more than %d", out.Len(), maxExpanded)}
	}
	e.text = out.String()
	return e, nil
}

func (known lets) unknown(name string) string {
	switch {
	case name == "":
		return "$ without a name: want one that `let` defines, like $name"
	case len(known) == 0:
		return fmt.Sprintf("$%s: `let` defines no names (above this place)", name)
	}
	return fmt.Sprintf("$%s: `let` does not define it (above this place); it has %s", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
}

// endOfQuote is the end of a quoted text that begins at i. One that does not end
// is left to the parser to complain of.
func endOfQuote(s string, i int) int {
	for j := i + 1; j < len(s); j++ {
		switch {
		case s[j] == '\\' && s[i] != '`':
			j++
		case s[j] == s[i]:
			return j + 1
		}
	}
	return len(s)
}

// letName is the name at the beginning of a text.
func letName(s string) string {
	end := strings.IndexFunc(s, func(c rune) bool {
		return c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9')
	})
	if end < 0 {
		return s
	}
	return s[:end]
}
