package pasted

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"stallmark/collectors/process"
	"stallmark/storage/model"
)

var (
	// The name may have blanks and colons in it, so the pid is what stands after
	// the last colon (kernel/hung_task.c: check_hung_task).
	hungTask = regexp.MustCompile(`INFO: task (.{1,64}):([0-9]+) blocked for more than ([0-9]+) seconds`)
	frame    = regexp.MustCompile(`(\? )?\b([A-Za-z_][\w.]*)\+0x[0-9a-f]+/0x[0-9a-f]+`)
	// The scheduler's own functions, in which every task sleeps.
	scheduler = regexp.MustCompile(`^(?:__schedule|schedule|io_schedule|schedule_timeout|io_schedule_timeout|schedule_preempt_disabled|context_switch)$`)
	ctime     = regexp.MustCompile(`\[((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8} [0-9]{4})\]`)
	sinceBoot = regexp.MustCompile(`^(?:<[0-9]{1,3}>)?\[ *([0-9]{1,10}\.[0-9]{6})\]`)
)

// maxStackLines is how far below a message its stack may reach.
const maxStackLines = 80

// readHung reads a hung task with its stack.
func readHung(r *reading, list []line) (*Part, int) {
	m := hungTask.FindStringSubmatch(list[0].text)
	if m == nil {
		return nil, 0
	}
	stack, n := stackBelow(list)
	p := &Part{Format: "hung task", Logged: true}
	wait, function, frames := process.Classify(stack)
	e := model.Event{Kind: model.EventBlocked, Text: m[1] + " blocked for more than " + m[3] + " s", Attrs: map[string]string{
		"process": m[1], "pid": m[2], "tid": m[2], "thread": m[1], "wait": wait, "function": function, "stack": frames, "seconds": m[3],
	}}
	if at, ok := r.logTime(list[0].text); ok {
		seconds, _ := time.ParseDuration(m[3] + "s")
		e.From, e.To = at.Add(-seconds), at
	} else if !r.at.IsZero() {
		e.From, e.To = r.at, r.at
	}
	p.Events = []model.Event{e}
	if function == "" {
		p.say("%s (pid %s) did not run for %s s; no stack below it", m[1], m[2], m[3])
		return p, n
	}
	p.say("%s (pid %s) did not run for %s s: %s", m[1], m[2], m[3], hungWords(m[1], wait, function))
	p.sign(list[0].no, "%s did not run for %s s: %s", m[1], m[3], hungWords(m[1], wait, function))
	return p, n
}

// journalThread is the thread that writes the journal of a file system of ext4.
var journalThread = regexp.MustCompile(`^jbd2/(.+)-[0-9]+$`)

// hungWords says where a hung task waits. The journal's own thread waits for the
// disk, and everybody who waits for the journal waits for it.
func hungWords(task, wait, function string) string {
	if m := journalThread.FindStringSubmatch(task); m != nil {
		return fmt.Sprintf("it is the journal of %s, which waits for that disk (%s), and whoever waits for the journal waits with it", m[1], function)
	}
	return explain(wait, function)
}

// logTime reads the stamp of a kernel log line, if it has a wall clock or counts
// from a boot whose time is known.
func (r *reading) logTime(text string) (time.Time, bool) {
	if m := ctime.FindStringSubmatch(text); m != nil {
		t, err := time.ParseInLocation("Mon Jan _2 15:04:05 2006", m[1], r.o.Zone)
		return t, err == nil && plausible(t)
	}
	if m := sinceBoot.FindStringSubmatch(text); m != nil && !r.o.Boot.IsZero() {
		up, err := time.ParseDuration(m[1] + "s")
		return r.o.Boot.Add(up), err == nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05-0700", "2006-01-02 15:04:05"} {
		head, _, _ := strings.Cut(text, " ")
		if strings.Contains(layout, " ") && len(text) >= len(layout) {
			head = text[:len(layout)]
		}
		if t, err := time.ParseInLocation(layout, head, r.o.Zone); err == nil && plausible(t) {
			return t, true
		}
	}
	return time.Time{}, false
}

// stackBelow gives the frames of the stack below a message, innermost first,
// and how many lines belong to the message. Frames with a question mark are
// what lay on the stack, not what called; so is one whose offset equals its
// size, the start of the next function.
func stackBelow(list []line) (stack []byte, n int) {
	n = 1
	seen := false
	for i := 1; i < len(list) && i < maxStackLines; i++ {
		text := list[i].text
		if hungTask.MatchString(text) {
			break
		}
		found := frame.FindAllStringSubmatch(text, -1)
		if len(found) == 0 {
			if seen && !strings.Contains(text, "<") || list[i].blank() {
				break
			}
			continue
		}
		seen, n = true, i+1
		for _, f := range found {
			if f[1] == "" && !pastEnd(f[0]) && (len(stack) > 0 || !scheduler.MatchString(f[2])) {
				stack = append(append(stack, f[0]...), '\n')
			}
		}
	}
	return stack, n
}

// pastEnd reports whether a frame's offset equals the function's size.
func pastEnd(f string) bool {
	_, numbers, _ := strings.Cut(f, "+")
	offset, size, ok := strings.Cut(numbers, "/")
	return ok && offset == size
}
