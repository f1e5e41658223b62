package model

import (
	"math"
	"slices"
	"strings"
)

// Label is one name/value pair of a series.
type Label struct {
	Name, Value string
}

// Series identifies a time series: a metric name and its labels, sorted by
// name. A source makes it once and passes the same pointer in every tick, so
// that a sink can find its column without hashing. It must not be changed after
// it has been used.
type Series struct {
	Name   string
	Labels []Label
}

// NewSeries makes a series from a metric name and label name/value pairs.
// An odd trailing name gets the empty value; empty values are dropped, since in
// Prometheus an empty label is an absent one.
func NewSeries(name string, pairs ...string) *Series {
	s := &Series{Name: name}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			s.Labels = append(s.Labels, Label{pairs[i], pairs[i+1]})
		}
	}
	slices.SortFunc(s.Labels, func(a, b Label) int { return strings.Compare(a.Name, b.Name) })
	return s
}

// Get returns the value of a label, empty if the series does not have it.
func (s *Series) Get(name string) string {
	for _, l := range s.Labels {
		if l.Name == name {
			return l.Value
		}
	}
	return ""
}

// Key is a unique text for the series, equal exactly for equal name and labels.
func (s *Series) Key() string {
	var b strings.Builder
	b.WriteString(s.Name)
	for _, l := range s.Labels {
		b.WriteByte(0xff)
		b.WriteString(l.Name)
		b.WriteByte(0xfe)
		b.WriteString(l.Value)
	}
	return b.String()
}

// Sample is one reading of one series. Counters are stored as the kernel said
// them; rates are computed when reading.
type Sample struct {
	Series *Series
	Value  float64
}

// Batch holds the samples of one tick. A sink copies what it keeps: the sampler
// reuses the slice.
type Batch struct {
	At      int64 // milliseconds since the Unix epoch
	Samples []Sample
}

// staleBits is the NaN payload by which Prometheus marks the end of a series
// (prometheus/model/value, StaleNaN).
const staleBits = 0x7ff0000000000002

// Stale is the value that ends a series: its source no longer reports it.
func Stale() float64 { return math.Float64frombits(staleBits) }

// IsStale reports whether v is the end marker of a series.
func IsStale(v float64) bool { return math.Float64bits(v) == staleBits }
