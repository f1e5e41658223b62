package files

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// FormatVersion is the version of the recording format that is written; newer
// ones are refused.
const FormatVersion = 1

// Meta is meta.json: what a replay must know and the files do not say.
type Meta struct {
	Format     int               `json:"format"`    // FormatVersion; 0 is the layout without meta.json
	Stallmark  string            `json:"stallmark"` // version that recorded
	Start      time.Time         `json:"start"`
	IntervalMS int64             `json:"interval_ms"` // the beat
	Hostname   string            `json:"hostname"`
	Kernel     string            `json:"kernel"`              // release, as uname -r
	PageSize   int               `json:"page_size"`           // bytes
	ClockTicks int               `json:"clock_ticks"`         // a second, the unit of CPU times in /proc
	Watch      []string          `json:"watch,omitempty"`     // names and pids that were watched on request
	Facts      map[string]string `json:"facts,omitempty"`     // as they stood at the first tick
	Baselines  json.RawMessage   `json:"baselines,omitempty"` // what a service on that host had learned, as it keeps it
}

// Interval is the beat of the recording.
func (m Meta) Interval() time.Duration { return time.Duration(m.IntervalMS) * time.Millisecond }

// The host that the layout without meta.json was recorded on.
const (
	defaultPageSize   = 4096
	defaultClockTicks = 100
)

// Names inside a tick that are not raw files.
const (
	nameMeta    = "meta.json"
	nameAt      = "at"
	nameOldTime = "meta"
	nameDirs    = ".dirs"
	nameErrors  = ".errors"
	nameFacts   = "facts.json"
)

// tickName takes apart "000123/proc/vmstat" and "name/000123/proc/vmstat".
var tickName = regexp.MustCompile(`^(?:[^/]+/)?([0-9]{1,9})/((?:proc|sys)/.+|logs/(?:index|[0-9]{1,6})|at|meta|\.dirs|\.errors|facts\.json)$`)

// splitName gives the tick's number and the name inside the tick. ok is false
// for a name that belongs to no tick.
func splitName(name string) (number int, inner string, ok bool) {
	m := tickName.FindStringSubmatch(name)
	if m == nil {
		return 0, "", false
	}
	number, err := strconv.Atoi(m[1])
	return number, m[2], err == nil
}

// cleanName refuses names that would leave the archive.
func cleanName(name string) (string, error) {
	clean := strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/")
	if clean == "" || clean == "." {
		return ".", nil
	}
	if !fs.ValidPath(clean) {
		return "", fmt.Errorf("entry %q: %w", name, errHostileName)
	}
	return clean, nil
}

// parseMeta reads meta.json and refuses what a replay could not use.
func parseMeta(data []byte) (Meta, error) {
	var m Meta
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("%s: %w", nameMeta, err)
	}
	switch {
	case m.Format > FormatVersion:
		return m, fmt.Errorf("%s: format %d is newer than this program, which reads up to %d", nameMeta, m.Format, FormatVersion)
	case m.Format < 1:
		return m, fmt.Errorf("%s: no format version", nameMeta)
	case m.IntervalMS < 100 || m.IntervalMS > int64(time.Hour/time.Millisecond):
		return m, fmt.Errorf("%s: interval of %d ms, want 100 ms to 1 h", nameMeta, m.IntervalMS)
	case m.PageSize < 512 || m.PageSize > 1<<24 || m.PageSize&(m.PageSize-1) != 0:
		return m, fmt.Errorf("%s: page size of %d bytes", nameMeta, m.PageSize)
	case m.ClockTicks < 1 || m.ClockTicks > 1e6:
		return m, fmt.Errorf("%s: %d clock ticks a second", nameMeta, m.ClockTicks)
	}
	return m, nil
}

// parseOldTime finds "real_ns N" in the older layout's meta file.
func parseOldTime(data []byte) (time.Time, error) {
	for line := range strings.Lines(string(data)) {
		value, ok := strings.CutPrefix(line, "real_ns ")
		if !ok {
			continue
		}
		ns, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		if err != nil {
			return time.Time{}, fmt.Errorf("real_ns: %w", err)
		}
		return time.Unix(0, ns).UTC(), nil
	}
	return time.Time{}, fmt.Errorf("no line real_ns")
}

// parseTime reads the time of a tick from the file that has it in its layout.
// Years that a millisecond clock in 64 bits of nanoseconds cannot hold are
// refused.
func parseTime(inner string, data []byte) (time.Time, error) {
	var at time.Time
	var err error
	if inner == nameAt {
		at, err = time.Parse(time.RFC3339Nano, strings.TrimSpace(string(data)))
	} else {
		at, err = parseOldTime(data)
	}
	if err == nil && (at.Year() < 1971 || at.Year() > 2200) {
		err = fmt.Errorf("year %d", at.Year())
	}
	return at.UTC(), err
}

// slowFiles are files whose content is a setting or changes slowly, so that a
// recording need not keep them in every tick.
var slowFiles = regexp.MustCompile(`^(?:proc/(?:zoneinfo|pagetypeinfo|mounts|self/mountinfo|sys/.+|cmdline|[0-9]+/(?:smaps_rollup|cgroup|limits|cmdline|maps|mountinfo))|sys/(?:block|kernel/mm|class)/.+)$`)

// sparse reports whether the last content of name may stand in for one that
// is missing in a tick.
func sparse(name string) bool { return slowFiles.MatchString(name) }

// processOf gives the folder of the process that a name belongs to, empty if
// none: a slow file of a process ends with the process.
func processOf(name string) string {
	rest, ok := strings.CutPrefix(name, "proc/")
	if !ok {
		return ""
	}
	pid, _, _ := strings.Cut(rest, "/")
	if _, err := strconv.Atoi(pid); err != nil {
		return ""
	}
	return path.Join("proc", pid)
}

// isMeta reports whether name is meta.json at the top or one folder below.
func isMeta(name string) bool {
	return path.Base(name) == nameMeta && strings.Count(name, "/") <= 1
}
