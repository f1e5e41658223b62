package logs

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// census counts how often it is given each numbered line.
type census struct {
	mu   sync.Mutex
	seen map[string]int
	n    int
}

// Line implements Consumer.
func (c *census) Line(l *Line) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[string(l.Text)]++
	c.n++
}

func (c *census) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// torturer writes lines into a log that it rotates.
type torturer struct {
	t    *testing.T
	dir  string
	f    *os.File
	out  *bufio.Writer
	next int
}

func (w *torturer) open(name string, flags int) {
	f, err := os.OpenFile(filepath.Join(w.dir, name), os.O_CREATE|os.O_WRONLY|flags, 0o600)
	must(w.t, err)
	w.f, w.out = f, bufio.NewWriterSize(f, 4<<10)
}

// write writes lines at a rate, a millisecond's worth at a time.
func (w *torturer) write(lines, perSecond int) {
	began, each := time.Now(), max(perSecond/1000, 1)
	for i := range lines {
		fmt.Fprintf(w.out, "%08d 2026-03-01 03:12:41 WARN SendMessageThread_1 - some text that makes it a line of a usual length %d\n", w.next, w.next%7)
		w.next++
		if i%each == each-1 {
			w.out.Flush()
			time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(perSecond))))
		}
	}
	must(w.t, w.out.Flush())
}

func (w *torturer) move(from, to string) {
	must(w.t, os.Rename(filepath.Join(w.dir, from), filepath.Join(w.dir, to)))
}

// rotations are the ways to rotate: what is done after the n-th batch. Nothing
// is thrown away, so that what is there afterwards is what must be read.
var rotations = map[string]func(w *torturer, n int){
	"rename": func(w *torturer, n int) {
		must(w.t, w.f.Close())
		for i := n; i > 0; i-- {
			w.move("store.log."+strconv.Itoa(i), "store.log."+strconv.Itoa(i+1))
		}
		w.move("store.log", "store.log.1")
		w.open("store.log", os.O_APPEND)
	},
	"rename while the writer goes on": func(w *torturer, n int) {
		w.move("store.log", fmt.Sprintf("store.log.2026-03-01-%02d%02d", n/60, n%60))
		w.write(500, 50_000)
		must(w.t, w.f.Close())
		w.open("store.log", os.O_APPEND)
	},
	"copy and truncate": func(w *torturer, n int) {
		for i := n; i > 0; i-- {
			w.move("store.log."+strconv.Itoa(i), "store.log."+strconv.Itoa(i+1))
		}
		data, err := os.ReadFile(filepath.Join(w.dir, "store.log"))
		must(w.t, err)
		must(w.t, os.WriteFile(filepath.Join(w.dir, "store.log.1"), data, 0o600))
		must(w.t, w.f.Truncate(0))
	},
	"cyclic": func(w *torturer, n int) {
		must(w.t, w.f.Close())
		w.move("store.log", "store.log."+strconv.Itoa((n*37)%10_000))
		w.open("store.log", os.O_APPEND)
	},
	"compress": func(w *torturer, n int) {
		must(w.t, w.f.Close())
		name := fmt.Sprintf("store.log-202603%02d.%d", 1+n%28, n)
		w.move("store.log", name)
		w.open("store.log", os.O_APPEND)
		w.write(200, 50_000)
		data, err := os.ReadFile(filepath.Join(w.dir, name))
		must(w.t, err)
		var z bytes.Buffer
		pack := gzip.NewWriter(&z)
		_, err = pack.Write(data)
		must(w.t, err)
		must(w.t, pack.Close())
		must(w.t, os.WriteFile(filepath.Join(w.dir, name+".gz"), z.Bytes(), 0o600))
		must(w.t, os.Remove(filepath.Join(w.dir, name)))
	},
}

// TestTorture rotates under a follower that runs. STALLMARK_TORTURE is the
// number of rotations of each kind, 6 unless set; lines come at 50,000 a second.
func TestTorture(t *testing.T) {
	rounds := 6
	if n, err := strconv.Atoi(os.Getenv("STALLMARK_TORTURE")); err == nil {
		rounds = n
	}
	for name, rotate := range rotations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			torture(t, rounds, rotate)
		})
	}
}

func torture(t *testing.T, rounds int, rotate func(*torturer, int)) {
	dir := t.TempDir()
	got := &census{seen: map[string]int{}}
	f := New(Config{Open: func(*File) Consumer { return got }, Now: time.Now})
	f.SetTargets([]Target{{Folder: dir, Names: []string{"store.log"}, Kind: KindText}})
	w := &torturer{t: t, dir: dir}
	w.open("store.log", os.O_APPEND)
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { f.Run(ctx) })
	for found := false; !found; time.Sleep(10 * time.Millisecond) {
		states, _ := f.Status()
		found = len(states) == 1 && states[0].Found
	}
	for n := range rounds {
		w.write(2_000+n%11*2_500, 50_000)
		rotate(w, n)
	}
	w.write(2_000, 50_000)
	must(t, w.f.Close())
	for range 200 { // until nothing has come for a second
		before := got.count()
		time.Sleep(time.Second)
		if got.count() == before {
			break
		}
	}
	cancel()
	done.Wait()
	compare(t, linesIn(t, dir), got.seen)
}

// linesIn is how often each line stands in the files of a folder, once for
// several copies.
func linesIn(t *testing.T, dir string) map[string]bool {
	t.Helper()
	lines := map[string]bool{}
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		must(t, err)
		if strings.HasSuffix(e.Name(), ".gz") {
			z, err := gzip.NewReader(bytes.NewReader(data))
			must(t, err)
			var plain bytes.Buffer
			_, err = plain.ReadFrom(z)
			must(t, err)
			data = plain.Bytes()
		}
		for line := range strings.Lines(string(data)) {
			lines[strings.TrimSuffix(line, "\n")] = true
		}
	}
	return lines
}

func compare(t *testing.T, want map[string]bool, got map[string]int) {
	t.Helper()
	lost, doubled, strange := 0, 0, 0
	example := ""
	for line := range want {
		if got[line] == 0 {
			lost++
			example = line
		}
	}
	for line, n := range got {
		if n > 1 {
			doubled++
			example = line
		}
		if !want[line] {
			strange++
			example = line
		}
	}
	if lost+doubled+strange > 0 {
		t.Errorf("of %d lines %d lost, %d doubled, %d that were never there; for instance %q", len(want), lost, doubled, strange, example)
	}
	t.Logf("%d lines", len(want))
}
