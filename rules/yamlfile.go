package rules

import (
	"maps"

	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"
)

// YAMLFile walks the YAML tree of one file and notes every mistake with its
// place. Packages below this one read their own kinds of rule files with it, so
// that mistakes look alike in all of them.
type YAMLFile struct{ r *reader }

// ParseYAML reads a file's one document. The node is nil after a mistake.
func ParseYAML(file string, data []byte) (*YAMLFile, *yaml.Node) {
	f := &YAMLFile{&reader{file: file}}
	return f, f.r.parse(data)
}

// Problems is the mistakes so far, in the order of the file.
func (f *YAMLFile) Problems() []Problem {
	sortProblems(f.r.problems)
	return f.r.problems
}

// Fail notes a mistake at a node.
func (f *YAMLFile) Fail(n *yaml.Node, format string, args ...any) { f.r.fail(n, format, args...) }

// FailInside notes a mistake at a byte offset in a node's text.
func (f *YAMLFile) FailInside(n *yaml.Node, offset int, format string, args ...any) {
	line, column := f.r.place(n, offset)
	f.r.failAt(line, column, format, args...)
}

// Mapping calls the function of each key that is present; other keys are
// mistakes.
func (f *YAMLFile) Mapping(n *yaml.Node, fields map[string]func(*yaml.Node)) { f.r.mapping(n, fields) }

// Pairs calls do for each key and value of a mapping, in the order of the file.
func (f *YAMLFile) Pairs(n *yaml.Node, do func(key, value *yaml.Node)) { f.r.pairs(n, do) }

// List calls do for each element of a list.
func (f *YAMLFile) List(n *yaml.Node, do func(*yaml.Node)) { f.r.list(n, do) }

// Require notes the keys that a mapping lacks.
func (f *YAMLFile) Require(n *yaml.Node, keys ...string) { f.r.require(n, keys...) }

// Text is a scalar's text; empty after a mistake.
func (f *YAMLFile) Text(n *yaml.Node) string { return f.r.text(n) }

// Word is a text out of a closed list; empty after a mistake.
func (f *YAMLFile) Word(n *yaml.Node, allowed ...string) string { return f.r.word(n, allowed...) }

// ID is a name of lower-case letters, digits and single hyphens.
func (f *YAMLFile) ID(n *yaml.Node) string { return f.r.id(n) }

// PromQL is an expression that gives an instant vector.
func (f *YAMLFile) PromQL(n *yaml.Node) string { return f.r.promql(n, parser.ValueTypeVector) }

// Template is a text for [Render] that may refer to the named values below .V,
// and to .Subject.
func (f *YAMLFile) Template(n *yaml.Node, values []string) string {
	return f.r.template(n, scope{top: []string{"V", "Subject"}, values: values})
}

// ErrMissing is the error of [Render] when a text needs a value that is nil.
var ErrMissing = errMissing

// Render fills in a text of a rule file: values below .V, the subject's labels
// below .Subject. In a command only what means nothing to a shell is filled in;
// other text is missing there.
func Render(source string, values map[string]any, subject map[string]string, command bool) (string, error) {
	data := remedyData{V: values, Subject: anyMap(subject)}
	if command {
		data.V = maps.Clone(values)
		for name, v := range data.V {
			data.V[name] = safeForCommand(v)
		}
		data.Subject = safeSubject(data.Subject)
	}
	return render(source, data.text(), func(string) any { return nil })
}
