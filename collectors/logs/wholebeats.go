package logs

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"stallmark/collectors/jvm/gclog"
	"stallmark/collectors/logs/match"
	"stallmark/collectors/logs/stamp"
	"stallmark/storage/model"
)

// Bounds of the axis.
const (
	wholeStep  = time.Second
	leadBefore = time.Minute // before what is of interest: conditions look back
	trailAfter = 2 * time.Minute
	maxWhole   = 14_400 // beats
	worthPause = 100 * time.Millisecond
	maxMoments = 1 << 20
)

// Beats are the times at which the source is to be asked: every second around
// what the logs say of stalls, and none in the hours between.
func (w *Whole) Beats() []time.Time {
	moments := w.moments()
	slices.Sort(moments)
	moments = slices.Compact(moments)
	var beats []time.Time
	last := int64(0)
	for _, m := range moments {
		from := max(m-int64(leadBefore/time.Second), last+1)
		for s := from; s <= m+int64(trailAfter/time.Second); s++ {
			beats = append(beats, time.Unix(s, 0).UTC())
			last = s
		}
	}
	if n := len(beats); n > maxWhole {
		w.Notes = append(w.Notes, fmt.Sprintf("the logs tell of stalls in more than %v: those before %s are left out",
			time.Duration(maxWhole)*wholeStep, beats[n-maxWhole].Format(time.RFC3339)))
		beats = beats[n-maxWhole:]
	}
	return beats
}

// moments are the seconds at which a log says something of interest; without
// any, its last.
func (w *Whole) moments() []int64 {
	var list []int64
	for _, l := range w.logs {
		w.learn(l)
	}
	for _, l := range w.logs {
		before := len(list)
		if l.kind == KindGC {
			w.tie(l)
			list = l.pauses(list)
		} else {
			list = w.hits(l, list)
		}
		if len(list) == before {
			list = l.last(list)
		}
		if len(list) == before && !l.unplaced {
			w.Notes = append(w.Notes, l.name+": no times that tell when its lines were written"+l.countsFromBoot())
		}
		l.clock = newClock(w.source, l.file) // it has been at the end
		l.feeder = newFeeder(l.file, w.source.Open(l.file))
	}
	return list
}

// hits adds the times of the lines that tell of a stall.
func (w *Whole) hits(l *restLog, list []int64) []int64 {
	var hit match.Hit
	for from := 0; w.source.cfg.Patterns != nil && from < len(l.data) && len(list) < maxMoments; from = hit.End + 1 {
		if !w.source.cfg.Patterns.Next(l.data, from, &hit) {
			break
		}
		if p := hit.Pattern.Proof; p != model.ProofDirect && p != model.ProofHint {
			continue
		}
		s, ok := stamp.Before(l.data, hit.Start)
		if !ok {
			continue
		}
		if span, ok := l.clock.Resolve(s, hit.Pattern.Product); ok {
			list = append(list, span.From.Unix())
		}
	}
	return list
}

// pauses adds the times of long pauses of a GC log.
func (l *restLog) pauses(list []int64) []int64 {
	take := func(m gclog.Moment, d time.Duration) {
		if d >= worthPause && !m.Wall.IsZero() && len(list) < maxMoments {
			list = append(list, m.Wall.Unix(), m.Wall.Add(d).Unix())
		}
	}
	var options []gclog.Option
	if !l.file.Began.IsZero() {
		options = append(options, gclog.StartedAt(l.file.Began, startSlack))
	}
	parser := gclog.NewParser(gclog.Handler{
		Pause: func(p *gclog.Pause) {
			take(p.Start, p.Duration)
			l.ended(p)
		},
		Safepoint: func(s *gclog.Safepoint) { take(s.Start, s.Total) },
		Stall:     func(s *gclog.Stall) { take(s.Start, s.Duration) },
	}, options...)
	for line := range bytes.Lines(l.data) {
		parser.Feed(line, time.Time{})
	}
	parser.Flush()
	return list
}
