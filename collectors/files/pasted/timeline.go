package pasted

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// Timeline is the parts of all texts on one axis.
type Timeline struct {
	Interval time.Duration
	Notes    []string // what had to be assumed
	Given    []string // names of the series that there are, sorted

	tables   bool // a tool printed some of it
	tracks   []*track
	ticks    []tick
	events   []model.Event
	spans    []span
	taken    time.Time
	dated    bool
	apart    time.Duration // of the readings
	readings int           // of files, at different times
}

// Bounds of a timeline.
const (
	minStep  = time.Second
	maxBeats = 20_000
	// assumed is the interval of rows when nothing tells it: what nearly everybody
	// asks vmstat and iostat for.
	assumed = time.Second
)

// span is a time in which something is known.
type span struct{ from, to time.Time }

// tick is the files that were read at one time.
type tick struct {
	at    time.Time
	files map[string][]byte
}

// NewTimeline lays the parts out. What has no time ends where the other parts
// of its text end, or at taken, when the text was made.
func NewTimeline(texts []Text, taken time.Time) *Timeline {
	t := &Timeline{taken: taken.UTC().Truncate(time.Millisecond)}
	for _, text := range texts {
		end := lastStamp(text)
		if t.dated = t.dated || !end.IsZero(); end.IsZero() {
			end = t.taken
		}
		for _, p := range joinSnapshots(text.Parts) {
			t.addRows(p, end)
			t.addEvents(p, end)
		}
		t.addFiles(text, end)
	}
	t.Interval = t.step()
	t.settle()
	t.readings = len(t.ticks)
	t.refine()
	t.cover()
	return t
}

// joinSnapshots makes one part of the readings of cgroups, so that their counters
// go from one to the next. Those without times stay as they are.
func joinSnapshots(parts []*Part) []*Part {
	var out []*Part
	all := &Part{Format: "cgroup"}
	for _, p := range parts {
		if (p.Format != "cgroup" && p.Format != "files") || len(p.Rows) == 0 || p.Rows[0].At.IsZero() {
			out = append(out, p)
			continue
		}
		rest := *p
		all.File, all.From, all.To = p.File, cmp.Or(all.From, p.From), p.To
		all.Rows, rest.Rows = append(all.Rows, p.Rows...), nil
		out = append(out, &rest)
	}
	slices.SortStableFunc(all.Rows, func(a, b Row) int { return a.At.Compare(b.At) })
	all.Rows = joinRows(all.Rows)
	all.Interval = stampedInterval(all.Rows)
	return append(out, all)
}

// Dated reports whether a text told the time of anything in it.
func (t *Timeline) Dated() bool { return t.dated }

// lastStamp is the latest time in a text, zero if it tells none.
func lastStamp(text Text) time.Time {
	var last time.Time
	later := func(at time.Time) {
		if at.After(last) {
			last = at
		}
	}
	for _, p := range text.Parts {
		for _, row := range p.Rows {
			later(row.At)
		}
		for _, f := range p.Files {
			later(f.At)
		}
		for _, e := range p.Events {
			later(e.To)
		}
	}
	return last.UTC().Truncate(time.Millisecond)
}

// addRows makes a track of a part's rows.
func (t *Timeline) addRows(p *Part, end time.Time) {
	if len(p.Rows) == 0 {
		return
	}
	t.tables = t.tables || p.Format != "cgroup" && p.Format != "files"
	interval := p.Interval
	if interval <= 0 {
		interval = assumed
	}
	rows := slices.Clone(p.Rows)
	foldPartitions(rows)
	if slices.ContainsFunc(rows, func(r Row) bool { return r.At.IsZero() }) {
		for i := range rows {
			rows[i].At = end.Add(-time.Duration(len(rows)-1-i) * interval)
		}
		if p.Interval == 0 && len(rows) > 1 {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: %s, lines %d to %d: rows without times are taken to be %v apart", p.File, p.Format, p.From, p.To, interval))
		}
		t.Notes = append(t.Notes, fmt.Sprintf("%s: %s, lines %d to %d: no times; taken to end at %s", p.File, p.Format, p.From, p.To, end.Format(time.RFC3339)))
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return a.At.Compare(b.At) })
	t.tracks = append(t.tracks, newTrack(rows, interval))
}

// addEvents takes the events of a part.
func (t *Timeline) addEvents(p *Part, end time.Time) {
	for _, e := range p.Events {
		if e.From.IsZero() {
			e.From, e.To = end, end
		}
		e.From, e.To = e.From.UTC(), e.To.UTC()
		t.events = append(t.events, e)
	}
}

// addFiles puts the files of a text into ticks. Copies of one file without times
// cannot be told apart, so only the last one counts.
func (t *Timeline) addFiles(text Text, end time.Time) {
	unstamped := map[string]int{}
	slept := sleeps(text)
	for _, p := range text.Parts {
		for _, f := range p.Files {
			at := f.At.UTC().Truncate(time.Millisecond)
			if f.At.IsZero() {
				at = end
				if left := slept[f.Path]; len(left) > 0 {
					at, slept[f.Path] = end.Add(-left[0]), left[1:]
				} else {
					unstamped[f.Path]++
				}
			}
			t.tickAt(at).files[f.Path] = f.Data
		}
	}
	for path, n := range unstamped {
		if n > 1 {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: %d copies of /%s without times: how far apart they are is unknown, so they give no rates; "+
				"put a line of date -u +%%FT%%TZ before each", text.Name, n, path))
		}
	}
	slices.Sort(t.Notes)
}

// sleeps are, of the files whose copies were made with known sleeps between them,
// how long before the last each was.
func sleeps(text Text) map[string][]time.Duration {
	after := map[string][]time.Duration{}
	for _, p := range text.Parts {
		for _, f := range p.Files {
			if f.At.IsZero() {
				after[f.Path] = append(after[f.Path], f.After)
			}
		}
	}
	for path, list := range after {
		if len(list) < 2 || slices.Contains(list[1:], 0) {
			delete(after, path)
			continue
		}
		var before time.Duration
		for i := len(list) - 1; i >= 0; i-- {
			list[i], before = before, before+list[i]
		}
	}
	return after
}

// tickAt is the tick at a time.
func (t *Timeline) tickAt(at time.Time) *tick {
	for i := range t.ticks {
		if t.ticks[i].at.Equal(at) {
			return &t.ticks[i]
		}
	}
	t.ticks = append(t.ticks, tick{at, map[string][]byte{}})
	return &t.ticks[len(t.ticks)-1]
}

// step is the interval of the beats: that of the files where there are several
// ticks of them, since their counters cannot be had in between, otherwise the
// shortest of the tables.
func (t *Timeline) step() time.Duration {
	slices.SortFunc(t.ticks, func(a, b tick) int { return a.at.Compare(b.at) })
	var steps []time.Duration
	for i := 1; i < len(t.ticks); i++ {
		steps = append(steps, t.ticks[i].at.Sub(t.ticks[i-1].at))
	}
	if len(steps) == 0 {
		for _, tr := range t.tracks {
			if len(tr.rows) > 1 {
				steps = append(steps, tr.interval)
			}
		}
		return max(minStep, shortest(steps).Round(time.Second))
	}
	slices.Sort(steps)
	return max(minStep, steps[len(steps)/2].Round(time.Second))
}

// shortest is the least of the steps, and what is assumed where there is none.
func shortest(steps []time.Duration) time.Duration {
	if len(steps) == 0 {
		return assumed
	}
	return slices.Min(steps)
}

// settle finds the spans in which something is known, and widens the step until
// there are not too many beats.
func (t *Timeline) settle() {
	var all []span
	for _, tr := range t.tracks {
		all = append(all, tr.spans(t.Interval)...)
	}
	for _, k := range t.ticks {
		all = append(all, span{k.at, k.at})
	}
	for _, e := range t.events {
		all = append(all, span{e.From.Truncate(time.Second), e.To.Truncate(time.Second).Add(t.Interval)})
	}
	slices.SortFunc(all, func(a, b span) int { return a.from.Compare(b.from) })
	for _, s := range all {
		if n := len(t.spans); n > 0 && !s.from.After(t.spans[n-1].to.Add(3*t.Interval)) {
			if s.to.After(t.spans[n-1].to) {
				t.spans[n-1].to = s.to
			}
			continue
		}
		t.spans = append(t.spans, s)
	}
	for t.count() > maxBeats {
		t.Interval *= 2
	}
}

func (t *Timeline) count() int {
	n := 0
	for _, s := range t.spans {
		n += int(s.to.Sub(s.from)/t.Interval) + 1
	}
	return n
}

// cover lists the names of the series.
func (t *Timeline) cover() {
	names := map[string]bool{}
	for _, tr := range t.tracks {
		for _, c := range tr.columns {
			names[c.series.Name] = true
		}
	}
	for name := range names {
		t.Given = append(t.Given, name)
	}
	slices.Sort(t.Given)
}

// HasFiles reports whether files of /proc are among it, for the sources that
// read them.
func (t *Timeline) HasFiles() bool { return len(t.ticks) > 0 }

// Waits are the groups of functions in which threads were seen waiting.
func (t *Timeline) Waits() []string {
	var list []string
	for _, e := range t.events {
		if wait := e.Attrs["wait"]; e.Kind == model.EventBlocked && !slices.Contains(list, wait) {
			list = append(list, wait)
		}
	}
	return list
}

// KernelOverTime reports whether it is files of the kernel, each with its time, at
// three times at least, and no tool's table: counters that can be followed as on a
// host. What came between two copies alone is taken to have come evenly.
func (t *Timeline) KernelOverTime() bool {
	times := t.readings
	for _, tr := range t.tracks {
		times = max(times, len(tr.rows))
	}
	return !t.tables && times > 2
}

// Beat is one time with what was read up to it.
type Beat struct {
	At   time.Time
	Root collectors.Root // the files of /proc that were pasted
}

// Beats yields the beats in order: one at least, so that what is missing gets
// said.
func (t *Timeline) Beats(yield func(Beat) bool) {
	if len(t.spans) == 0 {
		yield(Beat{t.taken, &collectors.MapRoot{}})
		return
	}
	root := &collectors.MapRoot{Files: map[string][]byte{}}
	read := map[string]time.Time{}
	next := 0
	for _, s := range t.spans {
		for at := s.from; !at.After(s.to); at = at.Add(t.Interval) {
			for ; next < len(t.ticks) && !t.ticks[next].at.After(at.Add(t.Interval/2)); next++ {
				for path, data := range t.ticks[next].files {
					root.Files[path], read[path] = data, at
				}
			}
			for path, since := range read {
				if at.Sub(since) > 3*t.Interval {
					delete(root.Files, path)
					delete(read, path)
				}
			}
			if !yield(Beat{at, root}) {
				return
			}
		}
	}
}
