package patterns

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"stallmark/rules"
	"stallmark/storage/model"
)

// sample is a line that a pattern must or must not recognise.
type sample struct {
	pattern string
	line    string
	want    bool
	fields  map[string]string // texts that it must find, for those that are named
	place   rules.Problem     // where it stands
}

// readSamples reads `match` and `no_match`. A sample is a line, or a mapping
// of `line` and the `fields` to be found in it.
func (f *file) readSamples(p model.LogPattern, yes, no *yaml.Node) {
	for _, part := range []struct {
		list *yaml.Node
		want bool
	}{{yes, true}, {no, false}} {
		if part.list == nil {
			continue
		}
		f.notEmpty(part.list)
		f.List(part.list, func(n *yaml.Node) {
			s := sample{pattern: p.ID, want: part.want, place: rules.Problem{File: f.name, Line: n.Line, Column: n.Column}}
			if n.Kind != yaml.MappingNode {
				s.line = f.sampleLine(n)
				f.samples = append(f.samples, s)
				return
			}
			f.Mapping(n, map[string]func(*yaml.Node){
				"line": func(n *yaml.Node) { s.line = f.sampleLine(n) },
				"fields": func(n *yaml.Node) {
					s.fields = map[string]string{}
					f.Pairs(n, func(key, value *yaml.Node) { s.fields[key.Value] = f.Text(value) })
				},
			})
			f.Require(n, "line")
			f.samples = append(f.samples, s)
		})
	}
}

// sampleLine is a line as it stands, with blanks at its end.
func (f *file) sampleLine(n *yaml.Node) string {
	if f.Text(n) == "" {
		return ""
	}
	if strings.ContainsAny(n.Value, "\n\r") {
		f.Fail(n, "a sample is one line")
	}
	return n.Value
}

// Recognise says which pattern of a set recognises a line, empty if none does,
// and the texts of its fields.
type Recognise func(line string) (id string, fields map[string]string)

// Samples is the number of sample lines.
func (p *Pack) Samples() int { return len(p.samples) }

// CheckSamples tries every sample: a `match` line must be recognised as its
// own pattern and no other, a `no_match` line must not be recognised as it.
func (p *Pack) CheckSamples(recognise Recognise) []rules.Problem {
	var problems []rules.Problem
	for _, s := range p.samples {
		id, fields := recognise(s.line)
		if why := s.fault(id, fields); why != "" {
			problem := s.place
			problem.Message = why
			problems = append(problems, problem)
		}
	}
	return problems
}

func (s sample) fault(id string, fields map[string]string) string {
	switch {
	case s.want && id == "":
		return fmt.Sprintf("%s: does not match its sample %.120q", s.pattern, s.line)
	case s.want && id != s.pattern:
		return fmt.Sprintf("%s: its sample is taken by the more specific %s: %.120q", s.pattern, id, s.line)
	case !s.want && id == s.pattern:
		return fmt.Sprintf("%s: matches a line that it must not: %.120q", s.pattern, s.line)
	}
	for _, name := range slices.Sorted(maps.Keys(s.fields)) {
		if got := fields[name]; got != s.fields[name] && s.want {
			return fmt.Sprintf("%s: field %s is %.60q, want %.60q in %.120q", s.pattern, name, got, s.fields[name], s.line)
		}
	}
	return ""
}
