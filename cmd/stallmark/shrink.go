package main

import (
	"context"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"
)

// How often memory that has become free is given back: soon after the start, which
// needs the most, and then once for every minute that is stored.
const (
	shrinkFirst = 15 * time.Second
	shrinkEvery = time.Minute
)

// nowAndThen does something soon after the start and then every minute, until ctx
// ends.
func nowAndThen(ctx context.Context, do func()) {
	timer := time.NewTimer(shrinkFirst)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			do()
			timer.Reset(shrinkEvery)
		}
	}
}

// shrink gives memory back, but not under pressure: what is free then is wanted
// soon, and what is not locked then may be taken.
func (s *service) shrink() {
	if s.flight != nil && s.flight.burst.Active() {
		return
	}
	if why := freeMemory(s.lacks.pageable == ""); why != "" {
		s.log.Warn(why)
	}
}

// freeMemory collects garbage and gives the kernel what is free. The kernel does
// not take locked pages (madvise(2), MADV_DONTNEED), and the Go runtime does not
// look at its answer: without unlocking them for these milliseconds, a process with
// locked pages keeps for ever what it once needed. So it is with the program's own
// pages: what answered a page an hour ago need not stay.
func freeMemory(locked bool) (why string) {
	if locked && unix.Munlockall() != nil {
		return ""
	}
	debug.FreeOSMemory()
	giveBack()
	if locked {
		why = lockMemory()
	}
	return why
}
