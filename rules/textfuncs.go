package rules

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/template/parse"
)

// call calls a function of texts.
func (f *filler) call(name string, nodes []parse.Node, dot any, last []any) (any, error) {
	if name == "and" || name == "or" {
		return f.shortcut(name == "or", nodes, dot, last)
	}
	var args []any
	for _, n := range nodes {
		v, err := f.value(n, dot)
		if err != nil {
			return nil, err
		}
		args = append(args, v)
	}
	args = append(args, last...)
	want, known := map[string]int{
		"fact": 1, "bytes": 1, "int": 1, "round": 1, "not": 1, "format": 2, "eq": -2, "ne": 2, "lt": 2, "le": 2, "gt": 2, "ge": 2, "index": -1,
	}[name]
	switch {
	case !known:
		return nil, fmt.Errorf("function %q is not for texts", name)
	case want >= 0 && len(args) != want, len(args) < -want:
		return nil, fmt.Errorf("%s: %d arguments", name, len(args))
	}
	return f.apply(name, args)
}

// shortcut is and and or: the first value that decides, or the last.
func (f *filler) shortcut(decides bool, nodes []parse.Node, dot any, last []any) (v any, err error) {
	if len(nodes)+len(last) == 0 {
		return nil, errors.New("and, or: no arguments")
	}
	for _, n := range nodes {
		if v, err = f.value(n, dot); err != nil || truth(v) == decides {
			return v, err
		}
	}
	if len(last) > 0 {
		v = last[0]
	}
	return v, nil
}

// apply calls a function that has as many arguments as it wants.
func (f *filler) apply(name string, args []any) (any, error) {
	switch name {
	case "fact":
		key, ok := args[0].(string)
		if !ok {
			return nil, errors.New("fact: want a key in quotes")
		}
		return f.fact(key), nil
	case "bytes":
		return formatAny(args[0], "bytes")
	case "format":
		unit, ok := args[1].(string)
		if !ok {
			return nil, errors.New("format: want a unit in quotes")
		}
		return formatAny(args[0], unit)
	case "int":
		return wholeNumber(args[0], math.Trunc)
	case "round":
		return wholeNumber(args[0], math.Round)
	case "not":
		return !truth(args[0]), nil
	case "eq":
		return equalsAny(args[0], args[1:])
	case "ne":
		same, err := equal(args[0], args[1])
		return !same, err
	case "index":
		return indexOf(args[0], args[1:])
	}
	return ordered(name, args[0], args[1])
}

// truth is whether a value is there and neither false, 0 nor empty.
func truth(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case map[string]any:
		return len(v) > 0
	case textData:
		return len(v) > 0
	}
	f, ok := numeric(v)
	return !ok || f != 0
}

// numeric is a number that is one, unlike number, which also reads texts.
func numeric(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	}
	return 0, false
}

var errBadComparison = errors.New("these two cannot be compared")

// equal compares two numbers, texts or truth values. What is missing equals
// nothing but what is missing.
func equal(a, b any) (bool, error) {
	if a == nil || b == nil {
		return a == nil && b == nil, nil
	}
	if x, ok := numeric(a); ok {
		if y, ok := numeric(b); ok {
			return x == y, nil
		}
		return false, errBadComparison
	}
	switch a := a.(type) {
	case string:
		if b, ok := b.(string); ok {
			return a == b, nil
		}
	case bool:
		if b, ok := b.(bool); ok {
			return a == b, nil
		}
	}
	return false, errBadComparison
}

func equalsAny(a any, others []any) (bool, error) {
	for _, b := range others {
		if same, err := equal(a, b); same || err != nil {
			return same, err
		}
	}
	return false, nil
}

// ordered is lt, le, gt and ge, of numbers or texts.
func ordered(name string, a, b any) (bool, error) {
	var less, same bool
	x, first := numeric(a)
	y, second := numeric(b)
	s, isText := a.(string)
	t, alsoText := b.(string)
	switch {
	case first && second:
		less, same = x < y, x == y
	case isText && alsoText:
		less, same = s < t, s == t
	default:
		return false, errBadComparison
	}
	switch name {
	case "lt":
		return less, nil
	case "le":
		return less || same, nil
	case "gt":
		return !less && !same, nil
	}
	return !less, nil
}

// indexOf looks up keys one in the other.
func indexOf(v any, keys []any) (any, error) {
	for _, k := range keys {
		name, ok := k.(string)
		if !ok {
			return nil, errors.New("index: want a name")
		}
		var err error
		if v, err = fieldOf(v, []string{name}); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func formatAny(v any, unit string) (string, error) {
	f, err := number(v)
	if err != nil {
		return "", err
	}
	return Format(f, unit), nil
}

func wholeNumber(v any, whole func(float64) float64) (int64, error) {
	f, err := number(v)
	if err != nil {
		return 0, err
	}
	if f = whole(f); math.Abs(f) >= 1<<62 {
		return 0, fmt.Errorf("%g: too large", f)
	}
	return int64(f), nil
}

// number takes a value of an expression, a fact's text, or a literal.
func number(v any) (float64, error) {
	if f, ok := numeric(v); ok {
		return f, nil
	}
	switch v := v.(type) {
	case nil:
		return 0, errMissing
	case string:
		f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		if err != nil || !finite(f) {
			return 0, fmt.Errorf("%.40q is not a number", v)
		}
		return f, nil
	}
	return 0, fmt.Errorf("%T is not a number", v)
}
