package work

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"

	"stallmark/cmd/stalldrill/host"
)

// The words between a drill and its workers.
const (
	WordReady   = "ready"   // the worker has prepared everything
	WordPrepare = "prepare" // the quiet time is over, others prepare
	WordDrill   = "drill"   // the drill begins
)

// worker is one child process.
type worker struct {
	spec    Spec
	log     io.Writer
	drill   chan struct{} // closed when the drill begins
	stop    chan struct{} // closed at the end
	now     atomic.Int32  // the phase
	stopped atomic.Bool
}

// Run is the life of a worker process: see the package's description. A task
// that cannot go on is told on log at once.
func Run(h host.Host, in io.Reader, out, log io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, mib)
	if !lines.Scan() {
		return errors.New("no specification on the input")
	}
	w := &worker{log: log, drill: make(chan struct{}), stop: make(chan struct{})}
	if err := json.Unmarshal(lines.Bytes(), &w.spec); err != nil {
		return fmt.Errorf("specification: %w", err)
	}
	if err := w.settle(h); err != nil {
		return err
	}
	words := make(chan string)
	go func() {
		defer close(words)
		for lines.Scan() {
			words <- lines.Text()
		}
	}()
	threads, err := w.prepare(h, words)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, WordReady); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(w.live(threads, words))
}

// settle takes the place in the system that the specification gives.
func (w *worker) settle(h host.Host) error {
	// A thread in a page fault keeps its slot of the Go scheduler, and stops
	// the collector: so there are slots enough, and hardly any collections.
	runtime.GOMAXPROCS(len(w.spec.Tasks) + 4)
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(96 * mib)

	self := filepath.Join(h.Proc, "self")
	if err := host.Write(filepath.Join(self, "comm"), w.spec.Name); err != nil {
		return err
	}
	if err := host.Write(filepath.Join(self, "oom_score_adj"), strconv.Itoa(w.spec.OOM)); err != nil {
		return err
	}
	for _, g := range w.spec.Groups {
		if err := host.Write(filepath.Join(g, "cgroup.procs"), "0"); err != nil { // 0 is ourselves
			return fmt.Errorf("join control group: %w", err)
		}
	}
	return nil
}

// prepare opens all tasks; the end of the input ends it half-way.
func (w *worker) prepare(h host.Host, words <-chan string) ([]*thread, error) {
	type prepared struct {
		threads []*thread
		err     error
	}
	done := make(chan prepared, 1)
	go func() {
		var p prepared
		for _, t := range w.spec.Tasks {
			do, err := open(h, t)
			if err != nil {
				p.err = fmt.Errorf("%s: %w", t.Name, err)
				break
			}
			p.threads = append(p.threads, &thread{task: t, do: do})
		}
		done <- p
	}()
	select {
	case p := <-done:
		return p.threads, p.err
	case word, ok := <-words:
		return nil, fmt.Errorf("ended while preparing (%q, %v)", word, ok)
	}
}

// live runs the threads until the input ends.
func (w *worker) live(threads []*thread, words <-chan string) Results {
	var all sync.WaitGroup
	for _, t := range threads {
		all.Go(func() { t.run(w) })
	}
	for word := range words {
		switch {
		case word == WordPrepare:
			w.now.CompareAndSwap(before, preparing)
		case word == WordDrill && w.now.Swap(drill) != drill:
			close(w.drill)
		}
	}
	w.stopped.Store(true)
	close(w.stop)
	all.Wait()
	res := Results{Rows: rows(threads)}
	for _, t := range threads {
		if t.err != nil {
			res.Errors = append(res.Errors, t.err.Error())
		}
	}
	return res
}

func (w *worker) phase() int { return int(w.now.Load()) }

// awaitDrill waits for the drill; false means that the end came first.
func (w *worker) awaitDrill() bool {
	select {
	case <-w.drill:
		return true
	case <-w.stop:
		return false
	}
}
