package trace

import (
	"strconv"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// hostName stands for all processes that are not watched.
const hostName = "host"

// owner is the process that a wait is counted for.
type owner struct {
	process string
	pid     int // 0 for hostName
}

// tallyKey is one set of series.
type tallyKey struct {
	owner owner
	wait  string
}

// tally counts the waits of one kind of one process.
type tally struct {
	seconds, waits float64 // since the first opening
	longest        float64 // seconds, in this beat
	fresh          bool    // not given yet

	secondsSeries, waitsSeries, longestSeries *model.Series
}

func newTally(k tallyKey) *tally {
	labels := []string{"wait", k.wait, "process", k.owner.process}
	if k.owner.pid != 0 {
		labels = append(labels, "pid", strconv.Itoa(k.owner.pid))
	}
	return &tally{
		fresh:         true,
		secondsSeries: model.NewSeries("stallmark_wait_seconds_total", labels...),
		waitsSeries:   model.NewSeries("stallmark_waits_total", labels...),
		longestSeries: model.NewSeries("stallmark_wait_max_seconds", labels...),
	}
}

func (t *tally) add(w wait) {
	t.seconds += w.part.Seconds()
	t.longest = max(t.longest, w.lasted.Seconds())
	if w.done {
		t.waits++
	}
}

// emit gives the counters, and the longest wait of the beat while measured. A
// counter's first value is 0 and what it has counted comes a beat later:
// otherwise a rate could not see the first waits.
func (t *tally) emit(out *collectors.Out, measured bool) {
	seconds, waits := t.seconds, t.waits
	if t.fresh {
		seconds, waits = 0, 0
	}
	out.Add(t.secondsSeries, seconds)
	out.Add(t.waitsSeries, waits)
	if measured {
		out.Add(t.longestSeries, t.longest)
	}
	t.fresh, t.longest = false, 0
}

// tallies are all series of the source, in the order in which they came.
type tallies struct {
	byKey map[tallyKey]*tally
	order []tallyKey
}

// maxTallies bounds the series that processes that come and go may make.
const maxTallies = 512

// of is the tally of a process and kind; when there are too many, the host's.
func (t *tallies) of(k tallyKey) *tally {
	if t.byKey == nil {
		t.byKey = map[tallyKey]*tally{}
	}
	if found := t.byKey[k]; found != nil {
		return found
	}
	if len(t.order) >= maxTallies && k.owner.pid != 0 {
		return t.of(tallyKey{owner{process: hostName}, k.wait})
	}
	made := newTally(k)
	t.byKey[k] = made
	t.order = append(t.order, k)
	return made
}

// keep drops the tallies of processes that are gone.
func (t *tallies) keep(lives func(owner) bool) {
	kept := t.order[:0]
	for _, k := range t.order {
		if k.owner.pid != 0 && !lives(k.owner) {
			delete(t.byKey, k)
			continue
		}
		kept = append(kept, k)
	}
	t.order = kept
}

// emit gives all series.
func (t *tallies) emit(out *collectors.Out, measured bool) {
	for _, k := range t.order {
		t.byKey[k].emit(out, measured)
	}
}
