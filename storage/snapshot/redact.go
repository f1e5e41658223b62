package snapshot

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Choice says what is replaced when a snapshot is redacted, besides addresses,
// host names, users, topics, groups, message keys and secrets, which always are.
type Choice struct {
	Paths bool     // of files and mount points
	Words []string // more words to replace, whatever they are
}

// Replaced is one text that was replaced, for the preview: it is never part of
// the redacted snapshot.
type Replaced struct {
	Kind  string `json:"kind"`
	From  string `json:"from"`
	To    string `json:"to"`
	Times int    `json:"times"`
}

// errTooMany is for a snapshot in which nearly every text is a name.
var errTooMany = errors.New("more names than can be replaced; freeze a shorter time")

// Redact makes the redacted twin of a snapshot. The same text becomes the same
// pseudonym everywhere in it. Pseudonyms are numbered in the order in which the
// texts first appear and tell nothing about them: a hash could be guessed.
func Redact(s *Snapshot, id string, c Choice) (*Snapshot, []Replaced, error) {
	r := &redactor{choice: c, known: map[string]int{}, numbers: map[string]int{}, memo: map[string]string{}, ids: map[string]string{}, catalogue: map[string]bool{}, read: map[string]bool{}}
	if err := r.learn(s); err != nil {
		return nil, nil, err
	}
	out := &Snapshot{}
	if err := r.copyJSON(s, out); err != nil {
		return nil, nil, err
	}
	out.Meta.Redacted, out.Meta.Parent = true, id
	for _, one := range s.Samples {
		out.Samples = append(out.Samples, r.series(one))
	}
	for _, l := range s.Lines {
		line := Line{Expr: r.expression(l.Expr)}
		for _, one := range l.Series {
			line.Series = append(line.Series, r.series(one))
		}
		out.Lines = append(out.Lines, line)
	}
	if len(r.all) >= maxPseudonyms {
		return nil, nil, errTooMany
	}
	return out, r.list(), nil
}

// redactor replaces texts.
type redactor struct {
	choice    Choice
	all       []*Replaced       // by number
	known     map[string]int    // what is replaced, with its place in all
	numbers   map[string]int    // last number of each kind
	names     names             // that were learned
	catalogue map[string]bool   // texts of the rule pack, which tell nothing
	ids       map[string]string // of findings: they are hashes of what they are about
	memo      map[string]string // short texts that were replaced before
	read      map[string]bool   // values of labels in which names were looked for
}

// While a text is worked on, a pseudonym is one rune of a private plane, so that
// no later pattern finds anything in it.
const (
	firstMark     = 0xF0000
	maxPseudonyms = 0x10FFFD - firstMark
)

// place gives a text its pseudonym and returns where it stands.
func (r *redactor) place(kind, from string) int {
	i, ok := r.known[from]
	if !ok && len(r.all) < maxPseudonyms {
		r.numbers[kind]++
		i = len(r.all)
		r.all = append(r.all, &Replaced{Kind: kind, From: from, To: kind + "-" + strconv.Itoa(r.numbers[kind])})
		r.known[from] = i
	}
	return i
}

// mark is the rune that stands for a text while others are looked for.
func (r *redactor) mark(kind, from string) string {
	return string(rune(firstMark + r.place(kind, from)))
}

// unmark puts the pseudonyms in the place of their runes.
func (r *redactor) unmark(s string) string {
	if strings.IndexByte(s, 0xF3) < 0 && strings.IndexByte(s, 0xF4) < 0 {
		return s
	}
	var b strings.Builder
	for _, c := range s {
		if i := int(c) - firstMark; i >= 0 && i < len(r.all) {
			r.all[i].Times++
			b.WriteString(r.all[i].To)
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

// unprivate takes out of a text what looks like a mark of ours.
func unprivate(s string) string {
	if strings.IndexByte(s, 0xF3) < 0 && strings.IndexByte(s, 0xF4) < 0 {
		return s
	}
	return strings.Map(func(c rune) rune {
		if c >= firstMark {
			return utf8.RuneError
		}
		return c
	}, s)
}

// text replaces what is in a text.
func (r *redactor) text(s string) string {
	if s == "" || r.catalogue[s] {
		return s
	}
	const short, most = 256, 50_000 // a label's value comes once a series
	marked, ok := r.memo[s]
	if !ok {
		marked = r.shapes(r.names.replace(unprivate(s)))
		if len(s) <= short && len(r.memo) < most {
			r.memo[s] = marked
		}
	}
	return r.unmark(marked)
}

// labelled replaces the value of a label or an attribute. Those of a closed list
// of words stay; one that is a name is replaced whole even if no text may be
// searched for it.
func (r *redactor) labelled(name, value string, setting bool) string {
	if value == "" || closed[name] {
		return value
	}
	kind := kindOf(name, setting)
	if r.choice.Paths && pathNames[name] && !systemPath(value) && strings.Contains(value, "/") && value != "/" {
		kind = "path"
	}
	if kind == "" || harmless[strings.ToLower(value)] {
		return r.text(value)
	}
	if i, ok := r.names.whole(value); ok {
		return r.unmark(string(rune(firstMark + i)))
	}
	return r.unmark(r.mark(kind, value))
}

// list is what was replaced, kind by kind.
func (r *redactor) list() []Replaced {
	var out []Replaced
	for _, k := range r.all {
		if k.Times > 0 {
			out = append(out, *k)
		}
	}
	slices.SortStableFunc(out, func(a, b Replaced) int { return strings.Compare(a.Kind, b.Kind) })
	return out
}

// series replaces the values of labels.
func (r *redactor) series(s Series) Series {
	out := Series{T: s.T, V: s.V}
	for _, l := range s.Labels {
		if l.Name != "__name__" {
			l.Value = r.labelled(l.Name, l.Value, false)
		}
		out.Labels = append(out.Labels, l)
	}
	return out
}

// sorted are the keys of a map, in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
