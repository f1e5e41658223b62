package rules

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"
)

// promql reads an expression of one of the wanted types; without any, a vector
// or a scalar. Names are filled in. A syntax error is placed inside the block where it stands.
func (r *reader) promql(n *yaml.Node, want ...parser.ValueType) string {
	s := r.text(n)
	if s == "" {
		return ""
	}
	filled, err := r.lets.expand(s)
	if bad, ok := errors.AsType[*letError](err); ok {
		line, column := r.place(n, bad.offset)
		r.failAt(line, column, "%v", bad)
		return ""
	}
	expr, err := newParser().ParseExpr(filled.text)
	if err != nil {
		r.promqlErrors(n, err, filled.original)
		return ""
	}
	if len(want) == 0 {
		want = []parser.ValueType{parser.ValueTypeVector, parser.ValueTypeScalar}
	}
	if !slices.Contains(want, expr.Type()) {
		r.fail(n, "the expression gives a %s: want %s", parser.DocumentedType(expr.Type()), typeNames(want))
		return ""
	}
	return filled.text
}

// promqlErrors notes syntax errors; original says where in the node's text a
// byte of what was parsed comes from.
func (r *reader) promqlErrors(n *yaml.Node, err error, original func(int) int) {
	errs, ok := errors.AsType[parser.ParseErrors](err)
	if !ok {
		r.fail(n, "%v", err)
		return
	}
	for _, e := range errs {
		line, column := r.place(n, original(int(e.PositionRange.Start)))
		r.failAt(line, column, "%v", e.Err)
	}
}

func typeNames(types []parser.ValueType) string {
	var names []string
	for _, t := range types {
		names = append(names, parser.DocumentedType(t))
	}
	return strings.Join(names, " or ")
}

// plainName is a metric name that is no regular expression.
var plainName = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)

// selectorNeed is a need of some series of a metric only: a name with labels.
var selectorNeed = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*\{.*\}$`)

// validLet is what `let` may define.
var validLet = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// need reads a metric name, a selector, or a regular expression over metric names.
func (r *reader) need(n *yaml.Node) string {
	s := r.text(n)
	if s == "" || plainName.MatchString(s) {
		return s
	}
	if selectorNeed.MatchString(s) {
		if _, err := newParser().ParseMetricSelector(s); err != nil {
			r.fail(n, "%q: no selector: %v", s, err)
			return ""
		}
		return s
	}
	re, err := regexp.Compile("^(?:" + s + ")$")
	switch {
	case err != nil:
		r.fail(n, "%q: neither a metric name nor a regular expression: %v", s, err)
		return ""
	case re.MatchString(""):
		r.fail(n, "%q: matches every name", s)
		return ""
	}
	return s
}
