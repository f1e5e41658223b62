package main

import (
	"log/slog"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// heapGoal keeps the heap near what the head of the store needs; beyond it the
// garbage collector works harder, nothing fails.
const heapGoal = 256 << 20

// lockMemory keeps the pages of this process in memory, so that the recorder
// does not wait for the storm that it records. Without the capability it is
// left: under a small RLIMIT_MEMLOCK, later allocations would fail.
func lockMemory(log *slog.Logger) {
	debug.SetMemoryLimit(heapGoal)
	if !mayLock() {
		log.Info("memory is not locked: it needs CAP_IPC_LOCK or an unlimited RLIMIT_MEMLOCK")
		return
	}
	if err := unix.Mlockall(unix.MCL_CURRENT | unix.MCL_FUTURE | unix.MCL_ONFAULT); err != nil {
		log.Info("memory is not locked", "error", err)
	}
}

// mayLock reports whether memory may be locked without limit.
func mayLock() bool {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit) == nil && limit.Cur == unix.RLIM_INFINITY {
		return true
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if unix.Capget(&header, &sets[0]) != nil {
		return false
	}
	return sets[0].Effective&(1<<unix.CAP_IPC_LOCK) != 0
}
