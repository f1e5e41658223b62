package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Stat is what /proc/PID/stat tells that a drill needs.
type Stat struct {
	State byte   // R, S, D, T, Z ...
	Start uint64 // clock ticks after boot: with the pid it names a process for good
	Major uint64 // major page faults of all threads
}

// ReadStat reads the state of a process. The name in it may hold anything, so
// fields are counted from the last parenthesis.
func (h Host) ReadStat(pid int) (Stat, error) {
	text, err := Read(h.Process(pid, "stat"))
	if err != nil {
		return Stat{}, err
	}
	end := strings.LastIndexByte(text, ')')
	words := strings.Fields(text[end+1:])
	if end < 0 || len(words) < 20 {
		return Stat{}, fmt.Errorf("stat of %d is not as expected", pid)
	}
	start, err := strconv.ParseUint(words[19], 10, 64)
	if err != nil {
		return Stat{}, fmt.Errorf("stat of %d: start time: %w", pid, err)
	}
	major, err := strconv.ParseUint(words[9], 10, 64)
	if err != nil {
		return Stat{}, fmt.Errorf("stat of %d: major faults: %w", pid, err)
	}
	return Stat{State: words[0][0], Start: start, Major: major}, nil
}

// Waits are the kernel functions in which the threads of a process sleep;
// threads that run, and what may not be seen, are left out.
func (h Host) Waits(pid int) []string {
	tasks := h.Process(pid, "task")
	entries, _ := os.ReadDir(tasks)
	var waits []string
	for _, e := range entries {
		if w, err := Read(filepath.Join(tasks, e.Name(), "wchan")); err == nil && w != "" && w != "0" {
			waits = append(waits, w)
		}
	}
	return waits
}
