package trace

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"stallmark/collectors"
	"stallmark/storage/model"
)

const (
	maxEvents   = 5                     // a beat
	leastEvent  = 10 * time.Millisecond // shorter waits are counted, not named
	repeatAfter = 10 * time.Second      // for one thread and kind of wait
	maxRepeats  = 4096
)

// longest names the threads that waited longest in a beat.
type longest struct {
	waits []wait // of this beat, longest first, a thread and kind once
	told  map[place]time.Time
}

// add considers a wait.
func (l *longest) add(w wait) {
	if w.lasted < leastEvent {
		return
	}
	same := func(o wait) bool { return o.tid == w.tid && o.point.wait == w.point.wait }
	if i := slices.IndexFunc(l.waits, same); i >= 0 {
		if l.waits[i].lasted >= w.lasted {
			return
		}
		l.waits = slices.Delete(l.waits, i, i+1)
	}
	i, _ := slices.BinarySearchFunc(l.waits, w, func(a, b wait) int { return cmp.Compare(b.lasted, a.lasted) })
	if i < 4*maxEvents { // some of them may have been told lately
		l.waits = slices.Insert(l.waits, i, w)
		l.waits = l.waits[:min(len(l.waits), 4*maxEvents)]
	}
}

// emit tells of the longest that have not been told lately, and begins anew.
func (l *longest) emit(out *collectors.Out, event func(wait) model.Event) {
	if l.told == nil || len(l.told) > maxRepeats {
		l.told = map[place]time.Time{}
	}
	told := 0
	for _, w := range l.waits {
		at := place{w.tid, w.point.wait}
		if last, ok := l.told[at]; ok && out.At().Sub(last) < repeatAfter {
			continue
		}
		if told++; told > maxEvents {
			break
		}
		l.told[at] = out.At()
		out.Event(event(w))
	}
	l.waits = l.waits[:0]
}

// blockedEvent describes a wait of a thread of the named process. Wall turns the records' time into that of the
// beats, if they can be compared.
func blockedEvent(w wait, process, thread string, at time.Time, wall func(uint64) (time.Time, bool)) model.Event {
	tid, ms := strconv.Itoa(w.tid), strconv.FormatInt(w.lasted.Milliseconds(), 10)
	attrs := map[string]string{"process": process, "pid": strconv.Itoa(w.pid), "tid": tid, "wait": w.point.wait, "function": w.point.function, "ms": ms}
	who := "thread " + tid
	if thread != "" {
		attrs["thread"] = thread
		who = thread + " (" + who + ")"
	}
	waited := " waited "
	if !w.done {
		waited = " has been waiting "
	}
	e := model.Event{
		From: at, To: at, Kind: model.EventBlocked, Attrs: attrs,
		Text: who + " of " + process + waited + ms + " ms in " + w.point.function,
	}
	if start, ok := wall(w.from); ok && start.Before(at) {
		e.From = start
		if end := start.Add(w.lasted); end.Before(at) {
			e.To = end
		}
	}
	return e
}
