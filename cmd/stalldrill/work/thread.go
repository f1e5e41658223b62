package work

import (
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// phases of a worker: what comes before the drill is measured for comparison,
// but for the time in which others prepare.
const (
	before = iota
	preparing
	drill
	phases
)

func phaseName(p int) string { return [phases]string{"before", "preparing", "drill"}[p] }

// thread is one task with what it felt.
type thread struct {
	task Task
	do   operation
	wait [phases]Histogram // from the intended start
	call [phases]Histogram // the operation alone
	err  error
}

// run repeats the operation until the worker stops.
func (t *thread) run(w *worker) {
	runtime.LockOSThread() // never unlocked: the thread has a name and a priority
	nameThread(t.task.Name)
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, w.spec.Nice) // 0 is this thread; refused below 0 without privilege
	if t.task.Late && !w.awaitDrill() {
		return
	}
	var period time.Duration
	if t.task.Rate > 0 {
		period = time.Duration(float64(time.Second) / t.task.Rate)
	}
	next := time.Now()
	for !w.stopped.Load() && t.err == nil {
		next = t.once(w, next, period)
	}
	switch {
	case t.err != nil:
		fmt.Fprintf(w.log, "%s: %v\n", w.spec.Name, t.err)
	case period > 0:
		t.unserved(w.phase(), next, period)
	}
}

// once waits for the intended start, does the operation and counts it. It
// returns the next intended start.
func (t *thread) once(w *worker, intended time.Time, period time.Duration) time.Time {
	if period > 0 {
		sleep(time.Until(intended))
	} else {
		intended = time.Now()
	}
	if w.stopped.Load() {
		return intended
	}
	p, start := w.phase(), time.Now()
	if err := t.do(); err != nil {
		t.err = fmt.Errorf("%s: %w", t.task.Name, err)
		return intended
	}
	end := time.Now()
	t.wait[p].Add(end.Sub(intended))
	t.call[p].Add(end.Sub(start))
	return intended.Add(period)
}

// unserved counts the operations that should have started but did not come to
// it: leaving them out would hide the longest waits.
func (t *thread) unserved(p int, next time.Time, period time.Duration) {
	for now := time.Now(); next.Before(now); next = next.Add(period) {
		t.wait[p].Add(now.Sub(next))
	}
}

// rows are the figures of the phases in which anything was done. Threads of one
// name are one row.
func rows(threads []*thread) []Row {
	var all []Row
	done := map[string]bool{}
	for _, t := range threads {
		if done[t.task.Name] {
			continue
		}
		done[t.task.Name] = true
		for _, p := range []int{before, drill} {
			var wait, call Histogram
			for _, same := range threads {
				if same.task.Name == t.task.Name {
					wait.Merge(&same.wait[p])
					call.Merge(&same.call[p])
				}
			}
			if n := wait.Count(); n > 0 {
				all = append(all, Row{t.task.Name, phaseName(p), n, wait.Felt(), call.Felt()})
			}
		}
	}
	return all
}
