package logs

import (
	"strconv"
	"strings"
	"time"

	"stallmark/collectors"
)

// BootTime is btime of /proc/stat, zero if it cannot be read.
func BootTime(root collectors.Root) time.Time {
	data, err := root.Read("proc/stat", nil)
	if err != nil {
		return time.Time{}
	}
	for line := range strings.Lines(string(data)) {
		if value, ok := strings.CutPrefix(line, "btime "); ok {
			if s, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); err == nil {
				return time.Unix(s, 0)
			}
		}
	}
	return time.Time{}
}
