package collectors

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/storage/model"
)

// Source reads one thing of the host. The sampler calls Collect once a beat,
// never twice at a time, so a source may keep buffers and earlier readings. A
// source with a slower cadence of its own repeats its last values in between.
type Source interface {
	// Name is short, stable and shown in coverage, e.g. "vmstat".
	Name() string
	// Provides lists prefixes of the metric names that this source gives, so
	// that a rule whose input is missing can say why.
	Provides() []string
	// Collect reads and puts what it read into out. What was put before an
	// error is kept. A nil error is coverage "ok"; otherwise use [Absent],
	// [Denied], [Partial] or any other error ("failed").
	Collect(root Root, out *Out) error
}

// Sink receives what the sources read. Implementations copy what they keep and
// must not wait for a disk or for a reader: the beat waits for them.
type Sink interface {
	Append(model.Batch)
	Fact(model.Fact)
	Event(model.Event)
	// Coverage replaces the state of the sources named in it.
	Coverage([]model.Coverage)
}

// Gap is why a source could not give everything: a coverage state, the reason
// in words, and what would mend it.
type Gap struct {
	State  model.SourceState
	Detail string
	Mend   string
}

// Error implements error.
func (g *Gap) Error() string { return string(g.State) + ": " + g.Detail }

// Absent says that this kernel or host does not have the thing.
func Absent(detail, mend string) error { return &Gap{model.SourceAbsent, detail, mend} }

// Denied says that permission is missing.
func Denied(detail, mend string) error { return &Gap{model.SourceDenied, detail, mend} }

// Partial says that some of it was read and some was not.
func Partial(detail, mend string) error { return &Gap{model.SourcePartial, detail, mend} }

// GapOf turns a read error of name into the fitting Gap: missing files are
// absent, EPERM and EACCES denied, EOPNOTSUPP absent, the rest failed.
func GapOf(name string, err error, mend string) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.EOPNOTSUPP):
		return Absent(fmt.Sprintf("%s: %v", name, rootCause(err)), mend)
	case errors.Is(err, fs.ErrPermission):
		return Denied(fmt.Sprintf("%s: %v", name, rootCause(err)), mend)
	}
	return &Gap{model.SourceFailed, fmt.Sprintf("%s: %v", name, rootCause(err)), mend}
}

// rootCause drops the path that a PathError repeats.
func rootCause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// Out takes what a source read in one beat. It belongs to one source for its
// whole life and remembers which series and facts that source gave before.
type Out struct {
	source  string
	at      time.Time
	samples []model.Sample
	before  []*model.Series // the series of the previous beat, in order
	events  []model.Event
	facts   []model.Fact
	covers  []model.Coverage
	known   map[string]string // last value of each fact
}

// NewOut makes the Out of the named source.
func NewOut(source string) *Out { return &Out{source: source, known: map[string]string{}} }

// Reset begins a beat at time at.
func (o *Out) Reset(at time.Time) {
	o.at = at
	o.samples, o.events, o.facts, o.covers = o.samples[:0], o.events[:0], o.facts[:0], o.covers[:0]
}

// At is the time of this beat.
func (o *Out) At() time.Time { return o.at }

// Add puts one sample. Pass the same *Series in every beat.
func (o *Out) Add(s *model.Series, v float64) {
	o.samples = append(o.samples, model.Sample{Series: s, Value: v})
}

// Cover says how a part of the source stands that is shown by itself, for
// instance one log of many. It is to be said in every beat; a part that is not
// named any more is absent.
func (o *Out) Cover(c model.Coverage) { o.covers = append(o.covers, c) }

// Event puts an event at the time of this beat, unless it has its own times.
func (o *Out) Event(e model.Event) {
	if e.From.IsZero() {
		e.From = o.at
	}
	if e.To.IsZero() {
		e.To = e.From
	}
	e.Source = o.source
	o.events = append(o.events, e)
}

// Fact states a fact. Only a new or changed value goes out; a change is an
// event as well.
func (o *Out) Fact(key, value string) {
	old, seen := o.known[key]
	if seen && old == value {
		return
	}
	o.known[key] = value
	o.facts = append(o.facts, model.Fact{At: o.at, Key: key, Value: value})
	if seen {
		o.Event(model.Event{
			Kind: model.EventSetting,
			Text: fmt.Sprintf("%s: %s -> %s", key, old, value),
			Attrs: map[string]string{
				"key": key, "old": old, "new": value,
			},
		})
	}
}

// Forget drops the remembered facts below a prefix, for a process or device
// that is gone: should it return, its facts are new and not changes.
func (o *Out) Forget(prefix string) {
	for k := range o.known {
		if len(k) >= len(prefix) && k[:len(prefix)] == prefix {
			delete(o.known, k)
		}
	}
}

// Samples returns what was put in this beat.
func (o *Out) Samples() []model.Sample { return o.samples }

// Facts returns the new and changed facts of this beat.
func (o *Out) Facts() []model.Fact { return o.facts }

// Covered returns how the parts of the source stand in this beat.
func (o *Out) Covered() []model.Coverage { return o.covers }

// Events returns the events of this beat.
func (o *Out) Events() []model.Event { return o.events }

// EndMissing adds an end marker for every series of the previous beat that is
// not in this one, and remembers this beat's series.
func (o *Out) EndMissing() {
	if !o.sameAsBefore() {
		now := make(map[*model.Series]bool, len(o.samples))
		for _, s := range o.samples {
			now[s.Series] = true
		}
		for _, s := range o.before {
			if !now[s] {
				o.samples = append(o.samples, model.Sample{Series: s, Value: model.Stale()})
			}
		}
	}
	o.before = o.before[:0]
	for _, s := range o.samples {
		if !model.IsStale(s.Value) {
			o.before = append(o.before, s.Series)
		}
	}
}

// sameAsBefore is the usual case: the same series in the same order.
func (o *Out) sameAsBefore() bool {
	if len(o.samples) != len(o.before) {
		return false
	}
	for i, s := range o.samples {
		if s.Series != o.before[i] {
			return false
		}
	}
	return true
}
