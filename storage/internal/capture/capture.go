// Package capture gives tests and benchmarks real readings: whole minutes of
// hosts that were throttled at the dirty limit, in direct reclaim, and idle. In
// the files each line is a series and its values, one a second; "-" is an
// absent one.
package capture

import (
	"embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"stallmark/storage/model"
)

//go:embed testdata/*.txt.zst
var files embed.FS

// The captures that there are.
const (
	DirtyThrottle = "a_dirty_throttle"
	DirectReclaim = "c_direct_reclaim"
	Idle          = "m_idle"
)

// Capture is a matrix of readings.
type Capture struct {
	Times  []int64 // milliseconds
	Series []*model.Series
	Values [][]float64 // by series, then time
	Has    [][]bool    // whether there is a value
}

// Load reads a capture.
func Load(name string) (*Capture, error) {
	packed, err := files.ReadFile("testdata/" + name + ".txt.zst")
	if err != nil {
		return nil, err
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	text, err := z.DecodeAll(packed, nil)
	if err != nil {
		return nil, err
	}
	c := &Capture{}
	for line := range strings.Lines(string(text)) {
		if err := c.line(strings.TrimSpace(line)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return c, nil
}

// line reads "at t t ..." or "name{a="b"}<tab>v v ...".
func (c *Capture) line(line string) error {
	key, rest, isSeries := strings.Cut(line, "\t")
	if !isSeries {
		for _, f := range strings.Fields(line)[1:] {
			t, err := strconv.ParseInt(f, 10, 64)
			if err != nil {
				return err
			}
			c.Times = append(c.Times, t)
		}
		return nil
	}
	c.Series = append(c.Series, parseSeries(key))
	fields := strings.Fields(rest)
	vals, has := make([]float64, len(fields)), make([]bool, len(fields))
	for i, f := range fields {
		if f == "-" {
			continue
		}
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return err
		}
		vals[i], has[i] = v, true
	}
	c.Values, c.Has = append(c.Values, vals), append(c.Has, has)
	return nil
}

func parseSeries(key string) *model.Series {
	name, rest, _ := strings.Cut(strings.TrimSuffix(key, "}"), "{")
	var pairs []string
	for p := range strings.SplitSeq(rest, ",") {
		if k, v, ok := strings.Cut(p, "="); ok {
			pairs = append(pairs, k, strings.Trim(v, `"`))
		}
	}
	return model.NewSeries(name, pairs...)
}
