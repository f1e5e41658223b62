package trace

import (
	"bytes"
	"strconv"
	"strings"
	"time"
	"unicode"

	"stallmark/collectors"
)

// maxNames bounds the thread names that are remembered, maxReads those that
// are read in one beat (measured: 5 us each).
const (
	maxNames = 4096
	maxReads = 64
)

// names are the names of threads, as they were when they first waited.
type names struct {
	byTid map[int]string
	since time.Time
	reads int
	buf   []byte
}

// reset begins a beat. Thread ids are used again, so nothing is kept for long.
func (n *names) reset(at time.Time) {
	n.reads = 0
	if n.byTid == nil || at.Sub(n.since) >= time.Minute || len(n.byTid) > maxNames {
		n.byTid, n.since = map[int]string{}, at
	}
}

// of is a thread's name, empty if it is gone or too many were asked for.
func (n *names) of(root collectors.Root, tid int) string {
	if name, ok := n.byTid[tid]; ok {
		return name
	}
	if n.reads >= maxReads {
		return ""
	}
	n.reads++
	data, err := root.Read("proc/"+strconv.Itoa(tid)+"/comm", n.buf)
	if err != nil {
		data = data[:0]
	} else {
		n.buf = data
	}
	name := clean(data)
	n.byTid[tid] = name
	return name
}

// clean is a name that a process chose, fit to be kept: one short printable
// line. The kernel cuts names of threads at 15 bytes.
func clean(data []byte) string {
	data, _, _ = bytes.Cut(data, []byte("\n"))
	if len(data) > 64 {
		data = data[:64]
	}
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, string(data))
}

// isReclaimer reports whether a thread of this name is one of the kernel's own
// that reclaim and compact as their work: nobody is held up there.
func isReclaimer(name string) bool {
	return strings.HasPrefix(name, "kswapd") || strings.HasPrefix(name, "kcompactd") || name == "khugepaged"
}
