package host

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// Memory is what /proc/meminfo and /proc/zoneinfo tell, in bytes.
type Memory struct {
	Total     int64
	Free      int64
	Available int64
	High      int64 // sum of the zones' high watermarks: kswapd sleeps above it
}

// ReadMemory reads the state of the memory. A kernel without MemAvailable is an
// error: no bound could be kept.
func (h Host) ReadMemory() (Memory, error) {
	var m Memory
	text, err := Read(filepath.Join(h.Proc, "meminfo"))
	if err != nil {
		return m, err
	}
	fields := map[string]*int64{"MemTotal:": &m.Total, "MemFree:": &m.Free, "MemAvailable:": &m.Available}
	found := 0
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 2 || fields[words[0]] == nil {
			continue
		}
		kib, err := strconv.ParseInt(words[1], 10, 64)
		if err != nil {
			return m, fmt.Errorf("meminfo: %s %w", words[0], err)
		}
		*fields[words[0]] = kib << 10
		found++
	}
	if found != len(fields) {
		return m, fmt.Errorf("meminfo has no MemTotal, MemFree or MemAvailable")
	}
	m.High = h.highWatermark()
	return m, nil
}

// highWatermark sums the "high" rows of /proc/zoneinfo, 0 if it is not readable.
func (h Host) highWatermark() int64 {
	text, err := Read(filepath.Join(h.Proc, "zoneinfo"))
	if err != nil {
		return 0
	}
	var pages int64
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 2 && words[0] == "high" {
			n, _ := strconv.ParseInt(words[1], 10, 64)
			pages += n
		}
	}
	return pages * int64(pageSize())
}
