package logs

import (
	"bytes"
	"slices"
	"time"

	"stallmark/collectors/logs/stamp"
)

// disorder is how far lines may stand from the order of their times: threads that
// write at once, and a clock that is set.
const disorder = time.Minute

// block is a line with a stamp and the lines without one that follow it.
type block struct {
	at       time.Time
	from, to int
}

// byTime gives the lines of a log in the order of their stamps, and whether that is
// another than that of the file: a tool printed the newest first, or files were
// joined in a wrong order. Lines of which the stamps cannot be compared stay.
func byTime(data []byte) ([]byte, bool) {
	first, ok := ordered(data)
	if ok {
		return data, false
	}
	blocks, rises := blocksOf(data)
	if blocks == nil {
		return data, false
	}
	if rises < 0 { // the newest first
		slices.Reverse(blocks)
	}
	slices.SortStableFunc(blocks, func(a, b block) int { return a.at.Compare(b.at) })
	out := append(make([]byte, 0, len(data)+1), data[:first]...)
	for _, b := range blocks {
		out = append(out, data[b.from:b.to]...)
		if out[len(out)-1] != '\n' {
			out = append(out, '\n')
		}
	}
	return out, true
}

// ordered reports whether the stamps never go far back, and where the first is.
func ordered(data []byte) (first int, ok bool) {
	first = -1
	var latest time.Time
	pos := 0
	for line := range bytes.Lines(data) {
		if at, ok := wallTime(line); ok {
			if first < 0 {
				first = pos
			}
			if at.Before(latest.Add(-disorder)) {
				return max(first, 0), false
			}
			if at.After(latest) {
				latest = at
			}
		}
		pos += len(line)
	}
	return max(first, 0), true
}

// wallTime is the time of a stamp as it is printed. One without a day, or that
// counts from a start, cannot be compared.
func wallTime(line []byte) (time.Time, bool) {
	s, ok := stamp.Find(bytes.TrimRight(line, "\r\n"))
	return s.Time, ok && s.Kind == stamp.Wall && !s.NoDate && !s.NoYear
}

// blocksOf takes a log apart, and counts how often a block is later than the one
// before it, less how often it is earlier. Nil if some stamps name their zone and
// others do not.
func blocksOf(data []byte) (blocks []block, rises int) {
	zoned := -1
	pos := 0
	for line := range bytes.Lines(data) {
		end := pos + len(line)
		s, ok := stamp.Find(bytes.TrimRight(line, "\r\n"))
		switch {
		case ok && s.Kind == stamp.Wall && !s.NoDate && !s.NoYear:
			is := 0
			if s.Zoned {
				is = 1
			}
			if zoned >= 0 && zoned != is {
				return nil, 0
			}
			zoned = is
			if n := len(blocks); n > 0 {
				rises += s.Time.Compare(blocks[n-1].at)
			}
			blocks = append(blocks, block{s.Time, pos, end})
		case len(blocks) > 0:
			blocks[len(blocks)-1].to = end
		}
		pos = end
	}
	return blocks, rises
}
