package burst

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// WatchPeriod is how often the cheap watch looks unless said otherwise.
const WatchPeriod = 250 * time.Millisecond

// TriggerConfig is what a [Trigger] needs.
type TriggerConfig struct {
	Root collectors.Root
	Now  func() time.Time
	// Procfs is where the live proc file system is mounted, for the kernel's
	// triggers. Empty means to do without them.
	Procfs string
	// Period is the time between two looks of the watch, [WatchPeriod] if 0.
	Period time.Duration
	// Ring takes its readings on the same looks, so that there is one timer. May
	// be nil. With it the period is the ring's resolution.
	Ring *Ring

	open func(procfs string) (waiter, error) // openKernel, but in tests
}

// waiter is what a [kernel] does.
type waiter interface {
	wait() (Cause, error)
	stop()
	release()
}

// Trigger waits for pressure on the host: 150 ms of stalled tasks within a
// second, on io or on memory.
type Trigger struct {
	cfg   TriggerConfig
	watch *Watch

	mu      sync.Mutex
	detail  string // by what means it watches
	mend    string // what would give better ones
	problem error  // why it cannot watch at present
}

// NewTrigger makes a trigger. It opens nothing yet.
func NewTrigger(cfg TriggerConfig) *Trigger {
	if cfg.Period <= 0 {
		cfg.Period = WatchPeriod
	}
	if cfg.open == nil {
		cfg.open = func(procfs string) (waiter, error) { return openKernel(procfs) }
	}
	return &Trigger{cfg: cfg, watch: NewWatch(psiThreshold, psiWindow)}
}

// How is coverage for a source to return: by what means the trigger watches and
// what would give better ones, or why it cannot watch.
func (t *Trigger) How() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.problem != nil {
		return fmt.Errorf("pressure cannot be read: %w", t.problem)
	}
	return &collectors.Gap{State: model.SourceOK, Detail: t.detail, Mend: t.mend}
}

func (t *Trigger) say(detail, mend string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.detail, t.mend = detail, mend
}

// Run calls fire whenever there is pressure, again and again while it lasts,
// until ctx ends. fire must not block.
func (t *Trigger) Run(ctx context.Context, fire func(Cause)) error {
	k := t.openKernel()
	if k == nil {
		return t.look(ctx, true, fire)
	}
	done := make(chan error, 1)
	go func() { done <- t.listen(k, fire) }()
	watching, end := context.WithCancel(ctx)
	defer end()
	looked := make(chan error, 1)
	go func() { looked <- t.look(watching, false, fire) }()
	select {
	case <-ctx.Done():
		k.stop()
		<-done
		<-looked
		k.release()
		return context.Cause(ctx)
	case err := <-done: // the triggers are gone
		k.release()
		end()
		<-looked
		t.say(fmt.Sprintf("looking every %v: %v", t.cfg.Period, err), "")
		return t.look(ctx, true, fire)
	}
}

// openKernel sets the kernel's triggers, or says why it could not.
func (t *Trigger) openKernel() waiter {
	why, mend := "no proc file system to set PSI triggers in", ""
	if t.cfg.Procfs != "" {
		k, err := t.cfg.open(t.cfg.Procfs)
		if err == nil {
			t.say("PSI triggers of the kernel", "")
			return k
		}
		why, mend = err.Error(), mendTrigger(err)
	}
	t.say(fmt.Sprintf("looking every %v: %s", t.cfg.Period, why), mend)
	return nil
}

// mendTrigger is what would make the kernel take a trigger.
func mendTrigger(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.EOPNOTSUPP):
		return "a kernel of 5.2 or newer with CONFIG_PSI, booted with psi=1"
	case errors.Is(err, errCoarse):
		return "CAP_SYS_RESOURCE"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, unix.EROFS):
		return "CAP_SYS_RESOURCE, and a proc file system that is not mounted read-only"
	}
	return ""
}

// listen fires on the kernel's triggers until they end.
func (t *Trigger) listen(k waiter, fire func(Cause)) error {
	for {
		c, err := k.wait()
		if err != nil {
			return err
		}
		c.At = t.cfg.Now()
		fire(c)
	}
}

// look takes the ring's readings and, if judging, looks for pressure. With
// neither to do it only waits for the end.
func (t *Trigger) look(ctx context.Context, judging bool, fire func(Cause)) error {
	if !judging && t.cfg.Ring == nil {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	tick := time.NewTicker(t.cfg.Period)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		at := t.cfg.Now()
		if t.cfg.Ring != nil {
			t.cfg.Ring.Take(t.cfg.Root, at)
		}
		if judging {
			t.judge(at, fire)
		}
	}
}

// judge is one look. What cannot be read is said, and tried again.
func (t *Trigger) judge(at time.Time, fire func(Cause)) {
	hadPSI := t.watch.NoPSI() == nil
	c, pressed, err := t.watch.Look(t.cfg.Root, at)
	t.mu.Lock()
	t.problem = err
	t.mu.Unlock()
	if why := t.watch.NoPSI(); hadPSI && why != nil {
		t.say(fmt.Sprintf("looking every %v at blocked tasks and reclaim: %v", t.cfg.Period, why),
			"a kernel with PSI: CONFIG_PSI, booted with psi=1")
	}
	if pressed {
		fire(c)
	}
}
