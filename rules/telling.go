package rules

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"stallmark/storage/model"
)

const (
	// tellingBefore is how long before a finding's first beat an event may have
	// ended that belongs to it: whole seconds in stamps, and what waits in buffers.
	tellingBefore = 5 * time.Second
	// tellingLate is how long after it happened an event may still come.
	tellingLate = 30 * time.Second
	// maxAfter is the longest time for which a resolved finding may be amended.
	maxAfter = 10 * time.Minute
	// maxTellings bounds the events that are told apart, and the names kept.
	maxTellings = 10_000
	maxTold     = 100
)

// telling reads the values of `lines`, `pauses` or `stalls`.
func (r *reader) telling(n *yaml.Node, e *EvidenceRule, kind model.EventKind, attr string) {
	rule := &TellingRule{Kind: kind, Attr: attr}
	r.list(n, func(n *yaml.Node) { rule.Values = append(rule.Values, r.id(n)) })
	if e.Told != nil {
		r.fail(n, "only one of lines, pauses and stalls")
	}
	e.Told = rule
}

// linesExpr is the number of lines that patterns recognised in ten seconds.
func linesExpr(patterns []string) string {
	return fmt.Sprintf("round(sum by (process, pid, source) (increase(stallmark_log_matches_total{pattern=~%q}[10s])))",
		strings.Join(patterns, "|"))
}

// tellings are the events that tell of a finding, by its pieces of evidence.
type tellings struct {
	first *time.Time // end of the earliest: when it was first said
	began time.Time  // the earliest beginning; zero without one
	of    map[int]*telling
}

// telling is what the events of one piece of evidence say.
type telling struct {
	seen    map[string]int // how many lines an event stands for
	to      time.Time      // events up to here have been read, but for late ones
	count   int
	longest time.Duration
	names   map[string]map[string]int // by field
}

// began is when a finding began: what a line or a pause tells when it is over
// began that much earlier. A finding before it is not overlapped.
func (t *tracked) began() time.Time {
	if b := t.told.began; !b.IsZero() && b.Before(t.started) {
		return later(b, t.floor)
	}
	return t.started
}

// read takes the events of the finding's i-th piece of evidence up to a time.
func (w *tellings) read(ctx context.Context, b *beat, t *tracked, i int, until time.Time) error {
	rule := t.sig.Evidence[i].Told
	one := w.of[i]
	if one == nil {
		one = &telling{seen: map[string]int{}, names: map[string]map[string]int{}}
		if w.of == nil {
			w.of = map[int]*telling{}
		}
		w.of[i] = one
	}
	earliest := t.started.Add(-cmp.Or(rule.Before, tellingBefore))
	from := earliest
	if from.Before(one.to) {
		from = later(from, one.to.Add(-tellingLate))
	}
	events, err := b.src.EventsIn(ctx, from, until, rule.Kind)
	if err != nil {
		return err
	}
	one.to = until
	for i := range events {
		e := &events[i]
		if e.To.Before(earliest) || !slices.Contains(rule.Values, e.Attrs[rule.Attr]) || !agreesMap(t.subject, e.Attrs) {
			continue
		}
		if one.add(e) && rule.Before == 0 && rule.After == 0 {
			w.span(e)
		}
	}
	return nil
}

// span widens the time of the finding by an event's.
func (w *tellings) span(e *model.Event) {
	if w.began.IsZero() || e.From.Before(w.began) {
		w.began = e.From
	}
	if w.first == nil || e.To.Before(*w.first) {
		to := e.To
		w.first = &to
	}
}

// add takes an event, and says whether it was new.
func (o *telling) add(e *model.Event) bool {
	key := e.Attrs["source"] + e.Attrs["log"] + "\x00" + e.Attrs["offset"] + "\x00" + e.From.String() + e.Text
	n := max(e.Count, 1)
	old, known := o.seen[key]
	if !known && len(o.seen) >= maxTellings {
		return false
	}
	o.seen[key] = n
	o.count += n - old
	if known {
		return false
	}
	o.longest = max(o.longest, took(e))
	for _, field := range toldFields() {
		v := e.Attrs[field]
		if v == "" || len(o.names[field]) >= maxTold {
			continue
		}
		if o.names[field] == nil {
			o.names[field] = map[string]int{}
		}
		if field == "thread" {
			v = family(v)
		}
		o.names[field][v]++
	}
	return true
}

// took is how long what an event tells of went on. A count of lines has the time
// of them all, so only the line's own duration counts.
func took(e *model.Event) time.Duration {
	if s, err := strconv.ParseFloat(e.Attrs["seconds"], 64); err == nil && s > 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	if e.Kind != model.EventLog {
		return e.To.Sub(e.From)
	}
	return 0
}

// toldFields are the attributes that say what a line is about, in the order in
// which they are shown.
func toldFields() []string {
	return []string{
		"kind", "topic", "group", "partition", "queue", "broker", "brokers", "event", "request", "task", "dir", "file", "peer",
		"node", "operation", "thread",
	}
}

// show puts what was told into a piece of evidence.
func (w *tellings) show(e *model.Evidence, p *peak, i int) {
	one := w.of[i]
	if one == nil || one.count == 0 {
		return
	}
	if p.rule.Told.Counted {
		n := float64(one.count)
		e.Value, e.Threshold, e.State = &n, p.rule.Threshold.Number, model.EvidenceHolds
		if e.Role == model.RoleContext {
			e.State = model.EvidenceShown
		}
	}
	e.Detail = one.text(p.rule.Told.Kind)
}

// text is for instance "12 lines, the longest 1.83 s; topic orders; thread
// SendMessageThread_*".
func (o *telling) text(kind model.EventKind) string {
	noun := map[model.EventKind]string{model.EventLog: "line", model.EventPause: "pause", model.EventStall: "stall"}[kind]
	if o.count != 1 {
		noun += "s"
	}
	text := fmt.Sprintf("%d %s", o.count, noun)
	if o.longest > 0 {
		longest := ", the longest "
		if o.count == 1 {
			longest = " of "
		}
		text += longest + Format(o.longest.Seconds(), "seconds")
	}
	for _, field := range toldFields() {
		if names := o.names[field]; len(names) > 0 {
			text += "; " + field + " " + commonest(names)
		}
	}
	return text
}

// commonest names those that were seen most.
func commonest(names map[string]int) string {
	const shown = 3
	list := slices.SortedFunc(maps.Keys(names), func(a, b string) int {
		return cmp.Or(cmp.Compare(names[b], names[a]), strings.Compare(a, b))
	})
	text := strings.Join(each(list[:min(len(list), shown)], oneLine), ", ")
	if n := len(list) - shown; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

func each(list []string, f func(string) string) []string {
	out := make([]string, 0, len(list))
	for _, s := range list {
		out = append(out, f(s))
	}
	return out
}

// oneLine is a name from a log, short and without what moves a cursor.
func oneLine(s string) string {
	const longest = 60
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
	if r := []rune(s); len(r) > longest {
		return string(r[:longest]) + "…"
	}
	return s
}
