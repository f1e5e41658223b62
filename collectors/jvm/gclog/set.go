package gclog

import (
	"bufio"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Part is one file of a rotated log.
type Part struct {
	Path  string
	First Moment // of its first line with a time
	index int    // N of ".N"; -1 for the file without one
	last  bool   // being written: without a number, or ".current"
}

// rotated is what rotation adds to a name: HotSpot ".N" and ".N.current", and
// logrotate ".N", "-20240131" or ".2024-01-31", each maybe compressed.
var rotated = regexp.MustCompile(`^(.+?)(?:\.(\d{1,3})(\.current)?|-(\d{8}(?:-\d+)?)|\.(\d{4}-\d\d-\d\d(?:-\d+)?))?$`)

// BaseName is the name of the log that a file is a part of: "gc.log" for
// "gc.log.3", "gc.log.0.current" and "gc.log.2.gz". Folders stay.
func BaseName(file string) string {
	base, _, _ := splitName(file)
	return base
}

// IsActive reports whether the file is the one being written, by its name.
func IsActive(file string) bool {
	_, index, current := splitName(file)
	return current || index < 0
}

func splitName(file string) (base string, index int, current bool) {
	dir, name := path.Split(file)
	for _, ext := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, ext)
	}
	m := rotated.FindStringSubmatch(name)
	if m == nil {
		return file, -1, false
	}
	index = -1
	if m[2] != "" {
		index, _ = strconv.Atoi(m[2])
	} else if date := m[4] + m[5]; date != "" {
		index, _ = strconv.Atoi(strings.ReplaceAll(date, "-", ""))
	}
	return dir + m[1], index, m[3] != ""
}

// NewPart makes the part of a rotated log that r holds the beginning of.
func NewPart(file string, r io.Reader) Part {
	_, index, current := splitName(file)
	return Part{Path: file, First: firstMoment(r), index: index, last: current || index < 0}
}

// Order puts the parts of one log in the order in which they were written. By
// their times where all have them; else by the uptimes, for which the one being
// written is the newest and the numbers go round (HotSpot) or down (logrotate).
func Order(parts []Part) {
	slices.SortStableFunc(parts, func(a, b Part) int { return a.index - b.index })
	if i := slices.IndexFunc(parts, func(p Part) bool { return p.last }); i >= 0 { // being written: the newest
		active := parts[i]
		copy(parts[i:], parts[i+1:])
		parts[len(parts)-1] = active
	}
	if !slices.ContainsFunc(parts, func(p Part) bool { return p.First.Wall.IsZero() }) {
		slices.SortStableFunc(parts, func(a, b Part) int { return a.First.Wall.Compare(b.First.Wall) })
		return
	}
	numbered := parts
	if n := len(parts); n > 0 && parts[n-1].last {
		numbered = parts[:n-1]
	}
	best, fewest := parts, drops(parts)
	for _, order := range turns(numbered) {
		order = append(order, parts[len(numbered):]...)
		if d := drops(order); d < fewest {
			best, fewest = order, d
		}
	}
	copy(parts, slices.Clone(best))
}

// turns are the orders that are possible: each number as the oldest, and down.
func turns(parts []Part) [][]Part {
	var all [][]Part
	for i := range parts {
		all = append(all, append(slices.Clone(parts[i:]), parts[:i]...))
	}
	down := slices.Clone(parts)
	slices.Reverse(down)
	return append(all, down)
}

// drops counts where the uptime goes back: each would be another JVM.
func drops(parts []Part) int {
	n := 0
	last := time.Duration(-1)
	for _, p := range parts {
		if p.First.Uptime < 0 {
			continue
		}
		if p.First.Uptime < last {
			n++
		}
		last = p.First.Uptime
	}
	return n
}

// maxFirstLines is how many lines are looked at for a time.
const maxFirstLines = 200

// firstMoment is the time of the first line that has one.
func firstMoment(r io.Reader) Moment {
	lines := bufio.NewReaderSize(r, MaxLine)
	for range maxFirstLines {
		line, err := lines.ReadSlice('\n')
		if m := lineMoment(line); m.Clock != ClockNone {
			return m
		}
		if err != nil {
			break
		}
	}
	return Moment{Uptime: -1}
}

// LineTime is what a line of a log says of its own time, in either format.
func LineTime(line []byte) Moment { return lineMoment(line) }

// lineMoment is what a line of either format says of its time.
func lineMoment(line []byte) Moment {
	line = []byte(strings.TrimRight(strings.TrimLeft(string(line), "\x00"), "\r\n"))
	var s stamp
	var d decorations
	if _, ok := d.split(line); ok {
		s = d.stamp()
	} else if len(line) > 0 && isDigit(line[0]) {
		end := strings.IndexAny(string(line), "[TA")
		if at := strings.Index(string(line), ": "); at >= 0 {
			end = at
			if second := strings.Index(string(line[at+2:]), ": "); second >= 0 && second < 20 {
				end = at + 2 + second
			}
		}
		if end > 0 {
			s.legacy(line[:end])
		}
	}
	return (&clock{last: -1}).moment(s, time.Time{})
}
