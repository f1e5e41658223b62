package patterns

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"go.yaml.in/yaml/v3"

	"stallmark/rules"
	"stallmark/storage/model"
)

// file is one pattern file being read.
type file struct {
	*rules.YAMLFile
	name     string
	product  string
	seen     map[string]bool
	patterns []model.LogPattern
	samples  []sample
	notes    []rules.Problem
}

// parseFile reads a file of patterns. With problems, what it gives is of no use.
func parseFile(name string, data []byte) ([]model.LogPattern, []sample, []rules.Problem) {
	y, n := rules.ParseYAML(name, data)
	if n == nil {
		return nil, nil, y.Problems()
	}
	f := &file{YAMLFile: y, name: name, seen: map[string]bool{}}
	var list *yaml.Node
	f.Mapping(n, map[string]func(*yaml.Node){
		"product":  func(n *yaml.Node) { f.product = f.ID(n) },
		"patterns": func(n *yaml.Node) { list = n },
	})
	f.Require(n, "product", "patterns")
	if list != nil {
		f.List(list, f.pattern)
	}
	return f.patterns, f.samples, append(y.Problems(), f.notes...)
}

func (f *file) pattern(n *yaml.Node) {
	p := model.LogPattern{Product: f.product, Fields: map[string]model.LogUnit{}, File: f.name, Line: n.Line}
	var literals, fields, yes, no *yaml.Node
	f.Mapping(n, map[string]func(*yaml.Node){
		"id":       func(n *yaml.Node) { p.ID = f.ID(n) },
		"title":    func(n *yaml.Node) { p.Title = f.Text(n) },
		"versions": func(n *yaml.Node) { p.Versions = f.Text(n) },
		"where":    func(n *yaml.Node) { p.Where = f.Text(n) },
		"proof":    func(n *yaml.Node) { p.Proof = model.LogProof(f.Word(n, words(model.LogProofs())...)) },
		"meaning":  func(n *yaml.Node) { p.Meaning = f.Text(n) },
		"not":      func(n *yaml.Node) { p.Not = f.Text(n) },
		"literals": func(n *yaml.Node) { literals = n },
		"regexp":   func(n *yaml.Node) { p.Regexp = f.Text(n); f.regexp(n, &p) },
		"fields":   func(n *yaml.Node) { fields = n },
		"match":    func(n *yaml.Node) { yes = n },
		"no_match": func(n *yaml.Node) { no = n },
	})
	f.Require(n, "id", "title", "versions", "proof", "meaning", "literals", "match")
	if f.seen[p.ID] && p.ID != "" {
		f.Fail(n, "id %q is there twice", p.ID)
	}
	f.seen[p.ID] = true
	if literals != nil {
		f.List(literals, func(n *yaml.Node) { p.Literals = append(p.Literals, f.literal(n)) })
		f.notEmpty(literals)
	}
	f.defaultRegexp(&p)
	if fields != nil {
		f.fields(fields, &p)
	}
	f.patterns = append(f.patterns, p)
	f.readSamples(p, yes, no)
}

// defaultRegexp lets a pattern do without: its literals are all there is.
func (f *file) defaultRegexp(p *model.LogPattern) {
	if p.Regexp != "" {
		return
	}
	quoted := make([]string, len(p.Literals))
	for i, l := range p.Literals {
		quoted[i] = regexp.QuoteMeta(l)
	}
	p.Regexp = strings.Join(quoted, "|")
}

// literal is a text as it stands in the line, with blanks at its ends.
func (f *file) literal(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		f.Text(n)
		return ""
	}
	if err := model.CheckLogLiteral(n.Value); err != nil {
		f.Fail(n, "literal %q: %v", n.Value, err)
	} else if len(n.Value) < model.FastLogLiteral {
		f.notes = append(f.notes, rules.Problem{File: f.name, Line: n.Line, Column: n.Column, Note: true, Message: fmt.Sprintf(
			"literal %q has %d bytes: with fewer than %d the search is slower for all patterns", n.Value, len(n.Value), model.FastLogLiteral)})
	}
	return n.Value
}

func (f *file) regexp(n *yaml.Node, p *model.LogPattern) {
	_, err := model.CompileLogRegexp(p.Regexp)
	var bad *syntax.Error
	switch {
	case errors.As(err, &bad):
		f.FailInside(n, max(0, strings.Index(n.Value, bad.Expr)), "regexp: %s", bad.Error())
	case err != nil:
		f.Fail(n, "regexp: %v", err)
	}
}

// fields are the units of the named groups; groups without one are texts.
func (f *file) fields(n *yaml.Node, p *model.LogPattern) {
	re, err := model.CompileLogRegexp(p.Regexp)
	if err != nil {
		return
	}
	f.Pairs(n, func(key, value *yaml.Node) {
		if re.SubexpIndex(key.Value) < 0 {
			f.Fail(key, "field %q is no named group of the regexp", key.Value)
		}
		p.Fields[key.Value] = model.LogUnit(f.Word(value, words(model.LogUnits())...))
	})
}

func (f *file) notEmpty(n *yaml.Node) {
	if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		f.Fail(n, "want at least one")
	}
}

// words turns a closed list of names into texts.
func words[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = string(w)
	}
	return out
}
