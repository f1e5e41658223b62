package drill

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/cmd/stalldrill/host"
)

const (
	watchEvery = 100 * time.Millisecond
	// A beat that comes this late says that the machine is out of hand.
	watchLate = 3 * time.Second
)

// watch looks at the machine while something is under way, and says why it must
// end early, empty if it went its full time.
type watch struct {
	r       *run
	waits   map[string]int
	samples int
}

// over looks at the machine every beat for a time.
func (w *watch) over(ctx context.Context, d time.Duration, freeze time.Duration) string {
	start := time.Now()
	thaw := w.freezer(start.Add(min(d/4, time.Second)), min(freeze, d/2))
	defer thaw(time.Time{})
	beat := time.NewTicker(watchEvery)
	defer beat.Stop()
	for last := start; ; {
		select {
		case <-ctx.Done():
			return "interrupted"
		case <-w.r.guard.Gone():
			return "the guard is gone"
		case <-beat.C:
		}
		now := time.Now()
		if late := now.Sub(last) - watchEvery; late > watchLate {
			return fmt.Sprintf("the watchdog itself was %v late", late.Round(time.Millisecond))
		}
		if why := w.look(); why != "" {
			return why
		}
		if now.Sub(start) >= d {
			return ""
		}
		thaw(now)
		last = now
	}
}

// freezer returns the step that stops the victim at a time, and lets it go
// after a while or when called with no time.
func (w *watch) freezer(at time.Time, d time.Duration) func(now time.Time) {
	stopped := false
	return func(now time.Time) {
		want := d > 0 && !now.Before(at) && now.Before(at.Add(d))
		if want == stopped {
			return
		}
		signal := unix.SIGCONT
		if want {
			signal = unix.SIGSTOP
		}
		_ = unix.Kill(w.r.victim.pid(), signal)
		stopped = want
	}
}

// look checks the bounds and counts in which functions the threads sleep.
func (w *watch) look() string {
	h := w.r.config.Host
	m, err := h.ReadMemory()
	if err != nil {
		return err.Error()
	}
	if m.Available < leastMemory {
		return "only " + bytesText(m.Available) + " of memory are available"
	}
	disk, err := host.ReadDisk(w.r.config.Dir)
	if err != nil {
		return err.Error()
	}
	if disk.Free < w.r.config.Limits.LeaveDisk {
		return "only " + bytesText(disk.Free) + " of the disk are free"
	}
	for _, c := range w.r.children {
		select {
		case <-c.gone:
			return c.spec.Name + " ended too early"
		default:
		}
		w.sample(c)
	}
	return ""
}

func (w *watch) sample(c *child) {
	w.samples += len(c.spec.Tasks)
	h := w.r.config.Host
	if st, err := h.ReadStat(c.pid()); err == nil && st.State == 'T' {
		w.waits["stopped"]++
	}
	for _, name := range h.Waits(c.pid()) {
		name, _, _ = strings.Cut(name, ".") // .isra.0 and the like are the compiler's
		w.waits[name]++
	}
}

// into puts the sightings among the counters, so that signs can name them.
func (w *watch) into(from, to host.Counters) {
	// A function in which nobody was seen counts as 0: the ones that signs ask
	// for are patterns, and need something to fit.
	for _, name := range []string{"balance_dirty_pages", "folio_wait_bit", "stopped"} {
		from["wait."+name], to["wait."+name] = 0, 0
	}
	for name, n := range w.waits {
		from["wait."+name], to["wait."+name] = 0, float64(n)
	}
}
