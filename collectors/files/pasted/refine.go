package pasted

import (
	"fmt"
	"time"
)

// Few readings far apart: a rate over three beats would see one of them only, or
// its half. So the time between is cut into pieces in which the counters go evenly,
// as in the rows of a table.
const (
	fewBeats = 4
	pieces   = 8
)

// refine makes the beats of a short axis denser.
func (t *Timeline) refine() {
	t.apart = t.Interval
	if t.count() >= fewBeats || t.Interval <= minStep {
		return
	}
	var whole time.Duration
	for _, s := range t.spans {
		whole += s.to.Sub(s.from)
	}
	step := max(minStep, (whole / pieces).Round(time.Second))
	if whole <= 0 || step >= t.Interval {
		return
	}
	t.Interval = step
	t.fill()
}

// fill puts copies of files between those that were read.
func (t *Timeline) fill() {
	var filled []tick
	for i, k := range t.ticks {
		filled = append(filled, k)
		if i+1 == len(t.ticks) {
			break
		}
		next := t.ticks[i+1]
		gap := next.at.Sub(k.at)
		for at := k.at.Add(t.Interval); next.at.Sub(at) > t.Interval/2; at = at.Add(t.Interval) {
			files := map[string][]byte{}
			for path, data := range k.files {
				if later, ok := next.files[path]; ok {
					files[path] = between(data, later, float64(at.Sub(k.at))/float64(gap))
				}
			}
			filled = append(filled, tick{at, files})
		}
	}
	if len(filled) > len(t.ticks) {
		t.Notes = append(t.Notes, fmt.Sprintf("%d readings, %v apart: what was counted between two is taken to have come evenly", len(t.ticks), t.apart))
	}
	t.ticks = filled
}

// Apart is how far apart the readings are that the beats were made from.
func (t *Timeline) Apart() time.Duration { return t.apart }
