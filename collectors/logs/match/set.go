package match

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"stallmark/storage/model"
)

// Set is patterns made ready for matching. It is read only and may be used by
// several goroutines at once, each with a [Hit] of its own.
type Set struct {
	patterns []pattern
	filter   *filter
	users    [][]int32 // patterns of each literal of the filter
}

// pattern is one of the set.
type pattern struct {
	*model.LogPattern
	regexp *regexp.Regexp
	fields []group
}

// group is a named group of the regular expression.
type group struct {
	name  string
	unit  model.LogUnit
	index int // of its bounds in what FindSubmatchIndex gives
}

// New makes a set of patterns. All mistakes are in the error; the set then
// holds the patterns that have none.
func New(patterns []model.LogPattern) (*Set, error) {
	s := &Set{}
	var errs []error
	for i := range patterns {
		p, err := compile(&patterns[i])
		if err != nil {
			errs = append(errs, fmt.Errorf("pattern %q: %w", patterns[i].ID, err))
			continue
		}
		s.patterns = append(s.patterns, p)
	}
	s.index()
	return s, errors.Join(errs...)
}

func compile(p *model.LogPattern) (pattern, error) {
	if len(p.Literals) == 0 {
		return pattern{}, errors.New("has no literal")
	}
	for _, l := range p.Literals {
		if err := model.CheckLogLiteral(l); err != nil {
			return pattern{}, fmt.Errorf("literal %q: %w", l, err)
		}
	}
	re, err := model.CompileLogRegexp(p.Regexp)
	if err != nil {
		return pattern{}, err
	}
	out := pattern{LogPattern: p, regexp: re}
	for i, name := range re.SubexpNames() {
		if name == "" {
			continue
		}
		unit := p.Fields[name]
		if unit == "" {
			unit = model.UnitText
		}
		out.fields = append(out.fields, group{name, unit, 2 * i})
	}
	for name := range p.Fields {
		if re.SubexpIndex(name) < 0 {
			return pattern{}, fmt.Errorf("field %q is no group of the regexp", name)
		}
	}
	return out, nil
}

// index gathers the literals, longest first, with their patterns.
func (s *Set) index() {
	users := map[string][]int32{}
	var literals []string
	for i, p := range s.patterns {
		for _, l := range p.Literals {
			if users[l] == nil {
				literals = append(literals, l)
			}
			if !slices.Contains(users[l], int32(i)) {
				users[l] = append(users[l], int32(i))
			}
		}
	}
	slices.SortStableFunc(literals, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	s.filter = newFilter(literals)
	for _, l := range literals {
		s.users = append(s.users, users[l])
	}
}

// Len is the number of patterns.
func (s *Set) Len() int { return len(s.patterns) }

// Next finds the first line that a pattern recognises among the lines of text
// that begin at or after from, which must be 0 or the beginning of a line. The
// last line may lack its line feed. It reports whether there is one.
func (s *Set) Next(text []byte, from int, hit *Hit) bool {
	for from < len(text) {
		at := s.filter.first(text, from)
		if at < 0 {
			return false
		}
		start := from + bytes.LastIndexByte(text[from:at], '\n') + 1
		end := len(text)
		if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n
		}
		if s.Match(text[start:end], hit) {
			hit.Start, hit.End = start, end
			return true
		}
		from = end + 1
	}
	return false
}

// Match reports whether a pattern recognises the line, and which.
func (s *Set) Match(line []byte, hit *Hit) bool {
	hit.reset(line)
	hit.literals = s.filter.all(line, hit.literals[:0])
	slices.Sort(hit.literals) // longest first: so they are numbered
	for i, l := range hit.literals {
		if i > 0 && hit.literals[i-1] == l {
			continue
		}
		for _, u := range s.users[l] {
			p := &s.patterns[u]
			if bounds := p.regexp.FindSubmatchIndex(line); bounds != nil {
				hit.take(p, bounds)
				return true
			}
		}
	}
	return false
}
