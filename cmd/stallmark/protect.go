package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// heapGoal keeps the heap near what the head of the store needs; beyond it the
// garbage collector works harder, nothing fails.
const heapGoal = 256 << 20

// gcPercent is how much garbage may gather beside what is alive, in percent: the
// heap is small and seldom collected, so memory is worth more than the time of a
// collection.
const gcPercent = 50

// atOnce is how many goroutines run at a time: a beat, and a page or a question
// beside it. On a host with many CPUs each more would wake threads in vain.
const atOnce = 2

// modest has the Go runtime take little of the host: of the recorder, and of the
// storing process. Without anybody who may ask for profiles, no memory is spent
// on where memory was allocated.
func modest(profiled bool) {
	if !profiled {
		runtime.MemProfileRate = 0
	}
	debug.SetGCPercent(gcPercent)
	runtime.GOMAXPROCS(min(atOnce, runtime.GOMAXPROCS(0)))
	slacken(ownThreads)
	giveBack()
}

// oomScore makes the kernel end nearly everything else first: what records the
// storm must outlive it, and its memory is bounded. -1000 would be immunity.
const oomScore = -900

// ownOOMScore is where this process says how soon it may be ended.
const ownOOMScore = "/proc/self/oom_score_adj"

// protection is what could not be done to outlive a storm, in words; empty
// where it was done.
type protection struct {
	pageable string // why pages are not locked
	killable string // why the kernel may end this process early
	waiting  string // why it waits for a CPU as long as everybody else
}

// protect locks the pages of this process, so that the recorder does not wait
// for the storm that it records, and lets the kernel prefer to end others. The
// storing process, started later, inherits only the latter: what it maps is the
// data file.
func protect(profiled bool) protection {
	modest(profiled)
	debug.SetMemoryLimit(heapGoal)
	if leader, err := unix.Getsid(0); err == nil && leader == os.Getpid() {
		favourSession(ownAutogroup)
	}
	return protection{lockMemory(), lowerOOMScore(ownOOMScore), goBefore(ownThreads)}
}

// niceness puts the recorder's few milliseconds before what keeps all CPUs busy.
const niceness = -10

// ownThreads lists the threads of this process.
const ownThreads = "/proc/self/task"

// timerSlack is how late the kernel may wake a thread of ours that sleeps: as much
// as the runtime's own timers are late in any case. Its watching thread, which asks
// for 20 us at a time while anything runs, wakes a twentieth as often.
const timerSlack = time.Millisecond

// slacken sets the timer slack of all threads of this process; threads and processes
// that begin later inherit it. Without CAP_SYS_NICE, which the kernel wants for other
// threads than one's own (fs/proc/base.c), it costs a fifth more time and nothing else.
func slacken(folder string) {
	threads, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, t := range threads {
		file := filepath.Join("/proc", t.Name(), "timerslack_ns")
		_ = os.WriteFile(file, strconv.AppendInt(nil, timerSlack.Nanoseconds(), 10), 0) // see above
	}
}

// goBefore lowers the niceness of all threads of this process, unless it is as
// low already; threads that begin later inherit it.
func goBefore(folder string) (why string) {
	threads, err := os.ReadDir(folder)
	if err != nil {
		return "its threads cannot be listed"
	}
	for _, t := range threads {
		tid, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		// The system call gives 20 less the niceness, so that it is never negative.
		if now, err := unix.Getpriority(unix.PRIO_PROCESS, tid); err != nil || 20-now <= niceness {
			continue // it has ended, or nothing is to be done
		}
		if err := unix.Setpriority(unix.PRIO_PROCESS, tid, niceness); err != nil {
			return fmt.Sprintf("where all CPUs are busy it waits for its turn like everybody: %v", err)
		}
	}
	return ""
}

// ownAutogroup is the scheduling group that the kernel makes of a session.
const ownAutogroup = "/proc/self/autogroup"

// favourSession has this session go before others. Where the kernel groups tasks by
// session (CONFIG_SCHED_AUTOGROUP, and no control group for CPU time), niceness counts
// inside one only (sched(7)): among six others a recorder at -10 waited 100 ms for its
// turn. It is only for a session of our own, and not for that of a shell.
func favourSession(file string) {
	f, err := os.OpenFile(file, os.O_WRONLY, 0) // not made where there is none
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.WriteString(strconv.Itoa(niceness)) // without CAP_SYS_NICE, which is said of the threads
}

// lockMemory locks pages as they come into use. Without the permission it is
// left: under a small RLIMIT_MEMLOCK, later allocations would fail.
func lockMemory() (why string) {
	if !mayLock() {
		return "its pages are not locked in memory"
	}
	if err := unix.Mlockall(unix.MCL_CURRENT | unix.MCL_FUTURE | unix.MCL_ONFAULT); err != nil {
		return fmt.Sprintf("its pages are not locked in memory: %v", err)
	}
	return ""
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

// lowerOOMScore writes the score into a file, unless it is as low already.
func lowerOOMScore(file string) (why string) {
	data, err := os.ReadFile(file)
	now, parseErr := strconv.Atoi(strings.TrimSpace(string(data)))
	switch {
	case err != nil || parseErr != nil:
		return "its OOM score cannot be read"
	case now <= oomScore:
		return ""
	}
	if err := os.WriteFile(file, strconv.AppendInt(nil, oomScore, 10), 0); err != nil {
		return fmt.Sprintf("short of memory, the kernel may end it early: its OOM score adjustment is %d", now)
	}
	return ""
}

// gap says in coverage what is missing, nil if nothing is.
func (p protection) gap() (detail, mend string) {
	var details, mends []string
	if p.pageable != "" {
		details = append(details, p.pageable)
		mends = append(mends, "LimitMEMLOCK=infinity in the unit, or CAP_IPC_LOCK")
	}
	if p.killable != "" {
		details = append(details, p.killable)
		mends = append(mends, fmt.Sprintf("OOMScoreAdjust=%d in the unit, or CAP_SYS_RESOURCE", oomScore))
	}
	if p.waiting != "" {
		details = append(details, p.waiting)
		mends = append(mends, fmt.Sprintf("Nice=%d in the unit, or CAP_SYS_NICE", niceness))
	}
	return strings.Join(details, "; "), strings.Join(mends, "; ")
}
