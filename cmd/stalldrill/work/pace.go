package work

import (
	"context"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// sleep suspends the calling thread, not through the timers of the Go runtime:
// their lateness is not the machine's.
func sleep(d time.Duration) {
	left := unix.NsecToTimespec(int64(d))
	for d > 0 && unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &left, &left) == unix.EINTR { //nolint:revive // the loop is the call
	}
}

// nameThread names the calling thread, which it must be locked to.
func nameThread(name string) {
	if p, err := unix.BytePtrFromString(name[:min(len(name), 15)]); err == nil {
		_ = unix.Prctl(unix.PR_SET_NAME, pointer(p), 0, 0, 0)
	}
}

// Beat calls f at each multiple of interval after start until f says false or
// the context ends, on a thread of its own. A missed beat is made up for at once.
func Beat(ctx context.Context, start time.Time, interval time.Duration, f func(intended time.Time) bool) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for next := start.Add(interval); ; next = next.Add(interval) {
		sleep(time.Until(next))
		if ctx.Err() != nil || !f(next) {
			return
		}
	}
}
