package audit

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// scope is the names of one check for one subject, worked out when asked for.
type scope struct {
	host    *host
	check   *check
	subject map[string]string
	known   map[string]outcome
}

// outcome is a value, or why there is none.
type outcome struct {
	value any
	err   error
}

// queryError is a query that failed: no statement about the host at all.
type queryError struct{ error }

func (e *queryError) Unwrap() error { return e.error }

// lookup implements the type of that name.
func (s *scope) lookup(name string) (any, error) {
	o, ok := s.known[name]
	if !ok {
		o.value, o.err = s.find(name)
		s.known[name] = o
	}
	return o.value, o.err
}

func (s *scope) find(name string) (any, error) {
	if r, ok := s.check.reads[name]; ok {
		v, err := s.host.read(r, s.subject)
		if g, isGap := errors.AsType[gap](err); isGap && r.optional {
			g.lacking = true
			err = g
		}
		return v, err
	}
	e := s.check.values[name]
	if e == nil {
		return nil, fmt.Errorf("there is no value %q", name)
	}
	return eval(e.tree, s.lookup)
}

// texts gives every name's value for templates; nil where there is none.
func (s *scope) texts() map[string]any {
	all := map[string]any{}
	for name := range s.check.reads {
		all[name], _ = s.lookup(name)
	}
	for name := range s.check.values {
		all[name], _ = s.lookup(name)
	}
	return all
}

// firstGap is what could not be read, by name, when a text lacks a value.
func (s *scope) firstGap(otherwise error) error {
	for _, name := range slices.Sorted(maps.Keys(s.known)) {
		if g, ok := errors.AsType[gap](s.known[name].err); ok && !g.lacking {
			return g
		}
	}
	return otherwise
}

// queryFailure is the first query that has failed, whoever asked for it.
func (s *scope) queryFailure() error {
	for _, o := range s.known {
		if failed, ok := errors.AsType[*queryError](o.err); ok {
			return failed
		}
	}
	return nil
}
