package main

import (
	"time"

	"stallmark/collectors"
	"stallmark/rules"
	"stallmark/storage/model"
)

// quietSource gives by how much causes are ruled out as series, so that the
// verdict about a long window need not evaluate every beat of it again.
type quietSource struct {
	values func(at time.Time) []rules.QuietValue
	known  map[string]*model.Series
}

func newQuietSource(values func(at time.Time) []rules.QuietValue) *quietSource {
	return &quietSource{values, map[string]*model.Series{}}
}

// maxQuietKnown bounds the series that are remembered: a value's labels name what
// had the worst one, which may change.
const maxQuietKnown = 2000

// Name implements collectors.Source.
func (*quietSource) Name() string { return "quiet values" }

// Provides implements collectors.Source.
func (*quietSource) Provides() []string { return []string{rules.QuietMetric} }

// Collect implements collectors.Source.
func (s *quietSource) Collect(_ collectors.Root, out *collectors.Out) error {
	if len(s.known) > maxQuietKnown {
		clear(s.known)
	}
	for _, v := range s.values(out.At()) {
		key := v.Labels.String()
		if s.known[key] == nil {
			s.known[key] = seriesOf(v.Labels)
		}
		out.Add(s.known[key], v.Value)
	}
	return nil
}
