package burst

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/collectors"
)

// Cause is why a burst begins.
type Cause struct {
	At   time.Time
	What string // "io" or "memory"
	Text string // for people: "io: tasks stalled 340 ms in 1s"
}

// Watch tells pressure by looking, as often as its caller likes: tasks were
// stalled for at least Threshold within the last Window. With PSI the stall is
// the kernel's own "some" time of io or memory. Without it, a span between two
// looks counts as stalled on io when tasks were blocked on I/O at both of its
// ends, and on memory when somebody had to reclaim in it.
//
// A look costs two small reads, without PSI /proc/stat and /proc/vmstat
// (BenchmarkWatchLook). Looking every 250 ms costs 0.1 % of a CPU, most of it for
// waking up (BenchmarkTrigger, on a 2-CPU VM under load).
type Watch struct {
	threshold, window time.Duration

	noPSI   error // why PSI cannot be read, nil as long as it can
	looks   []look
	blocked bool    // of the last look, without PSI
	stalls  float64 // allocstall of the last look, without PSI
	buf     []byte
}

// look is the time stalled so far, as of one moment.
type look struct {
	at         time.Time
	io, memory time.Duration
}

// NewWatch makes a watch for stalls of at least threshold in a window. If looks
// come more rarely than the window, the threshold grows with the time between.
func NewWatch(threshold, window time.Duration) *Watch {
	return &Watch{threshold: threshold, window: window}
}

// NoPSI is why the watch does without PSI, nil if it has it.
func (w *Watch) NoPSI() error { return w.noPSI }

// Look reads the host as of at and reports whether there is pressure. The first
// look never does: there is nothing to compare it with.
func (w *Watch) Look(root collectors.Root, at time.Time) (Cause, bool, error) {
	now, err := w.read(root, at)
	if err != nil {
		return Cause{}, false, err
	}
	if n := len(w.looks); n > 0 && !at.After(w.looks[n-1].at) {
		w.looks = w.looks[:0] // the clock went back
	}
	w.looks = append(w.looks, now)
	old := 0
	for old+1 < len(w.looks)-1 && !w.looks[old+1].at.After(at.Add(-w.window)) {
		old++
	}
	w.looks = append(w.looks[:0], w.looks[old:]...)
	c, pressed := w.judge(w.looks[0], now)
	return c, pressed, nil
}

// judge compares two looks.
func (w *Watch) judge(before, now look) (Cause, bool) {
	span := now.at.Sub(before.at)
	limit := w.threshold
	if span > w.window {
		limit = time.Duration(float64(limit) * float64(span) / float64(w.window))
	}
	what, stalled := "io", now.io-before.io
	if m := now.memory - before.memory; m > stalled {
		what, stalled = "memory", m
	}
	if span <= 0 || stalled < limit {
		return Cause{}, false
	}
	return Cause{
		At: now.at, What: what,
		Text: fmt.Sprintf("%s: tasks stalled %d ms in %d ms", what, stalled.Milliseconds(), span.Milliseconds()),
	}, true
}

// read takes the stalled time so far from PSI, or estimates it.
func (w *Watch) read(root collectors.Root, at time.Time) (look, error) {
	if w.noPSI == nil {
		io, err := w.some(root, "proc/pressure/io")
		if err == nil {
			memory, err := w.some(root, "proc/pressure/memory")
			return look{at, io, memory}, err
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, unix.EOPNOTSUPP) {
			return look{}, err
		}
		w.noPSI, w.looks = err, w.looks[:0]
	}
	return w.estimate(root, at)
}

// some is the total of the "some" line of a PSI file.
func (w *Watch) some(root collectors.Root, name string) (time.Duration, error) {
	data, err := root.Read(name, w.buf)
	if err != nil {
		return 0, err
	}
	w.buf = data
	us, ok := psiSome(data)
	if !ok {
		return 0, fmt.Errorf("%s: no total of \"some\" in %.80q", name, data)
	}
	return us, nil
}

// psiSome reads total= (microseconds) of the line "some".
func psiSome(data []byte) (time.Duration, bool) {
	for line := range bytes.Lines(data) {
		if !bytes.HasPrefix(line, []byte("some ")) {
			continue
		}
		_, total, ok := bytes.Cut(line, []byte(" total="))
		if !ok {
			return 0, false
		}
		us, err := strconv.ParseUint(string(bytes.TrimSpace(total)), 10, 53)
		if err != nil {
			return 0, false
		}
		return time.Duration(us) * time.Microsecond, true
	}
	return 0, false
}

// estimate makes up stalled time where the kernel does not count it.
func (w *Watch) estimate(root collectors.Root, at time.Time) (look, error) {
	data, err := root.Read("proc/stat", w.buf)
	if err != nil {
		return look{}, err
	}
	w.buf = data
	blocked := sumKeys(data, "procs_blocked") > 0
	if data, err = root.Read("proc/vmstat", w.buf); err != nil {
		return look{}, err
	}
	w.buf = data
	stalls := sumKeys(data, "allocstall") // of all zones, by name since 4.8
	now := look{at: at}
	if n := len(w.looks); n > 0 {
		last := w.looks[n-1]
		now.io, now.memory = last.io, last.memory
		if blocked && w.blocked {
			now.io += at.Sub(last.at)
		}
		if stalls > w.stalls {
			now.memory += at.Sub(last.at)
		}
	}
	w.blocked, w.stalls = blocked, stalls
	return now, nil
}

// sumKeys adds the values of all lines "key value" whose key begins so.
func sumKeys(data []byte, prefix string) float64 {
	sum := 0.0
	for line := range bytes.Lines(data) {
		if !bytes.HasPrefix(line, []byte(prefix)) {
			continue
		}
		_, value, _ := bytes.Cut(line, []byte(" "))
		if n, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 64); err == nil {
			sum += float64(n)
		}
	}
	return sum
}
