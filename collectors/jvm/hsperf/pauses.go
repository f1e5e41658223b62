package hsperf

import (
	"strconv"
	"time"

	"stallmark/collectors"
	"stallmark/collectors/jvm"
	"stallmark/storage/model"
)

// heldPause is a pause that the GC log may have too.
type heldPause struct {
	event model.Event
	seen  time.Time
}

// holdFor is how long the GC log has to tell of a pause: a file at rest is looked
// at after 2 s, its last pause waits 1 s for what may follow, and a beat passes.
const holdFor = 5 * time.Second

// tell gives the events of pauses that the GC log does not have. Those of a JVM
// whose log is not followed are given at once.
func (j *vm) tell(out *collectors.Out, book *jvm.PauseBook) {
	logged := book.Followed(j.pid)
	kept := j.held[:0]
	for _, h := range j.held {
		if logged {
			if _, ok := book.Counted(j.pid, jvm.Witnessed{From: h.event.From, To: h.event.To, Slack: beginSlack}); ok {
				continue
			}
			if age := out.At().Sub(h.seen); age >= 0 && age < holdFor {
				kept = append(kept, h)
				continue
			}
			h.event.Attrs["logged"] = "no"
		}
		out.Event(h.event)
	}
	clear(j.held[len(kept):])
	j.held = kept
}

// beginSlack is how far the JVM's clock may be from what it says its begin was.
const beginSlack = 50 * time.Millisecond

func pauseEvent(j *vm, r *Reading, c *Collector, length time.Duration) model.Event {
	from := r.Begun.Add(c.Entry)
	a := map[string]string{
		"what": "gc", "kind": c.Kind, "gc": c.Name, "process": j.process, "pid": j.pid, "class": "unknown",
		"ms":    strconv.FormatFloat(float64(length)/1e6, 'f', -1, 64),
		"clock": "derived", "slack_ms": strconv.FormatInt(beginSlack.Milliseconds(), 10),
	}
	text := "GC pause (" + c.Kind + ")"
	if r.Last != "" {
		a["cause"] = r.Last
		text += ": " + r.Last
	}
	return model.Event{Kind: model.EventPause, From: from, To: from.Add(length), Text: text, Attrs: a}
}
