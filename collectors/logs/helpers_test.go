package logs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// collector keeps the lines that it is given.
type collector struct {
	mu    sync.Mutex
	lines []string
	cut   int
}

// Line implements Consumer.
func (c *collector) Line(l *Line) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, string(l.Text))
	if l.Cut {
		c.cut++
	}
}

func (c *collector) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.lines, "\n")
}

// rig is one folder that is polled by hand, with a clock of its own.
type rig struct {
	t   *testing.T
	dir string
	d   *folder
	got *collector
	at  time.Time
	cfg Config
}

func newRig(t *testing.T, saved []Position, names ...string) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir()}
	r.start(saved, names...)
	return r
}

// start begins anew in the same folder, as after a restart.
func (r *rig) start(saved []Position, names ...string) {
	r.got = &collector{}
	r.at = time.Now()
	r.cfg = Config{
		Open: func(*File) Consumer { return r.got }, Saved: saved, Alert: func() bool { return false },
		Now: func() time.Time { return r.at },
	}
	limit := &limiter{rate: 1 << 40, now: r.cfg.Now}
	r.d = newFolder(&r.cfg, Target{Folder: r.dir, Names: names, Kind: KindText}, r.dir, limit, r.at.Add(time.Hour))
	r.d.saved, _ = r.d.own(saved)
	r.t.Cleanup(func() { r.d.shut() })
}

// poll polls a few times, with time between.
func (r *rig) poll() {
	r.t.Helper()
	for range 4 {
		r.at = r.at.Add(pollFast)
		r.d.racy = true // whatever the coarse clock says: names are looked at
		r.d.poll(context.Background())
	}
}

// later lets time go by.
func (r *rig) later(d time.Duration) { r.at = r.at.Add(d) }

func (r *rig) path(name string) string { return filepath.Join(r.dir, name) }

func (r *rig) append(name, text string) {
	r.t.Helper()
	f, err := os.OpenFile(r.path(name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	must(r.t, err)
	_, err = f.WriteString(text)
	must(r.t, err)
	must(r.t, f.Close())
}

func (r *rig) rename(from, to string) {
	r.t.Helper()
	must(r.t, os.Rename(r.path(from), r.path(to)))
}

// want checks all lines so far.
func (r *rig) want(lines ...string) {
	r.t.Helper()
	if got := r.got.text(); got != strings.Join(lines, "\n") {
		r.t.Fatalf("lines\n%s\nwant\n%s\n%s", got, strings.Join(lines, "\n"), r.describe())
	}
}

func (r *rig) describe() string {
	var b strings.Builder
	for _, s := range r.d.order {
		for _, p := range s.parts {
			fmt.Fprintf(&b, "%s: part %s at %d, %+v\n", s.base, p.name, p.trace.offset, p.last)
		}
	}
	return b.String()
}

// saved is the state that a restart would find.
func (r *rig) saved() []Position {
	_, places, _ := r.d.status()
	return places
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
