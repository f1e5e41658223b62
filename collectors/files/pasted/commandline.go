package pasted

import (
	"path"
	"strconv"
	"strings"
	"time"
)

// longestSleep is what a sleep between two readings may be at most.
const longestSleep = time.Hour

// takeCommand takes in a command line: the tool whose output follows, the file that
// "cat" shows, and how long it slept before. In a loop all copies are that far
// apart, otherwise the next one is.
func (r *reading) takeCommand(text string) {
	r.path, r.slept, r.loop = "", 0, false
	r.command = nil
	for _, part := range strings.FieldsFunc(strings.ReplaceAll(text, "&&", ";"), func(c rune) bool { return c == ';' }) {
		words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(part), "do "))
		switch {
		case len(words) == 0 || words[0] == "done" || words[0] == "date":
		case words[0] == "for" || words[0] == "while":
			r.loop = true
		case words[0] == "sleep" && len(words) == 2:
			if d, err := strconv.ParseFloat(strings.TrimSuffix(words[1], "s"), 64); err == nil && d > 0 && d <= longestSleep.Seconds() {
				r.slept += time.Duration(d * float64(time.Second))
			}
		default:
			r.loop = r.loop || r.command != nil // two readings on one line
			r.command = strings.Fields(strings.TrimPrefix(strings.Join(words, " "), "sudo "))
		}
	}
	if len(r.command) != 2 || r.command[0] != "cat" {
		return
	}
	r.path = strings.TrimPrefix(r.command[1], "/")
	if _, base, ok := cgroupFile(path.Base(r.path)); ok && !strings.HasPrefix(r.path, "sys/") {
		r.path = base // from inside the cgroup's folder
	}
}

// after is how long after the copy before it what follows was read, 0 if nothing
// tells.
func (r *reading) after() time.Duration {
	d := r.slept
	if !r.loop {
		r.slept = 0
	}
	return d
}
