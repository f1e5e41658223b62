package gclog

import (
	"strconv"
	"time"

	"stallmark/storage/model"
)

// pauseEvent is the event of a pause: From and To are the pause's own, so that
// what is found by it begins when the application stood, not when the log said so.
func pauseEvent(p *Pause) model.Event {
	a := map[string]string{
		"what": "gc", "kind": string(p.Label()), "ms": milliText(p.Duration), "class": string(p.Class()),
	}
	put(a, "cause", p.Cause)
	put(a, "detail", p.Detail)
	moment(a, p.Start)
	if p.CPU.Known {
		a["user_ms"], a["sys_ms"], a["real_ms"] = milliText(p.CPU.User), milliText(p.CPU.Sys), milliText(p.CPU.Real)
	}
	for key, v := range map[string]int64{"heap_before": p.Heap.Before, "heap_after": p.Heap.After, "heap_capacity": p.Heap.Capacity} {
		if v != Unknown {
			a[key] = strconv.FormatInt(v, 10)
		}
	}
	if p.Stopped > 0 {
		a["stopped_ms"], a["reaching_ms"] = milliText(p.Stopped), milliText(p.Reaching)
	}
	text := "GC pause (" + string(p.Label()) + ")"
	if p.Cause != "" {
		text += ": " + p.Cause
	}
	return stretch(model.Event{Kind: model.EventPause, Text: text, Attrs: a}, p.Start, p.Duration)
}

// safepointEvent is the event of a stop that no collector's pause accounts for.
func safepointEvent(s *Safepoint) model.Event {
	a := map[string]string{"what": "safepoint", "kind": "safepoint", "ms": milliText(s.Total), "class": string(ClassUnknown)}
	if s.Reaching >= 0 {
		a["reaching_ms"] = milliText(s.Reaching)
	}
	if s.Dominated() {
		a["class"] = string(ClassSafepoint)
	}
	put(a, "operation", s.Operation)
	moment(a, s.Start)
	text := "safepoint"
	if s.Operation != "" {
		text += ": " + s.Operation
	}
	return stretch(model.Event{Kind: model.EventPause, Text: text, Attrs: a}, s.Start, s.Total)
}

// stallEvent is the event of a thread that waited.
func stallEvent(s *Stall) model.Event {
	kind := "allocation"
	if s.Relocation {
		kind = "relocation"
	}
	a := map[string]string{"kind": kind, "thread": s.Thread, "ms": milliText(s.Duration)}
	moment(a, s.Start)
	return stretch(model.Event{Kind: model.EventStall, Text: kind + " stall of " + s.Thread, Attrs: a}, s.Start, s.Duration)
}

func put(a map[string]string, key, value string) {
	if value != "" {
		a[key] = value
	}
}

// moment tells where the time comes from, and how sure it is where it was not
// printed.
func moment(a map[string]string, m Moment) {
	if m.Clock != ClockWall && m.Clock != ClockNone {
		a["clock"] = string(m.Clock)
		a["slack_ms"] = milliText(m.Slack)
	}
}

// stretch gives an event its times; without any it has those of the beat.
func stretch(e model.Event, start Moment, d time.Duration) model.Event {
	if !start.Wall.IsZero() {
		e.From, e.To = start.Wall, start.Wall.Add(d)
	}
	return e
}
