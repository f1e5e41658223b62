package storage

import (
	"fmt"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"stallmark/storage/model"
)

// topic is what a question is about.
type topic string

// The topics.
const (
	askSamples  topic = "samples"
	askLabels   topic = "labels"
	askEvents   topic = "events"
	askFacts    topic = "facts"
	askCoverage topic = "coverage"
	askFindings topic = "findings"
	askFinding  topic = "finding"
	askState    topic = "state"
	askSync     topic = "sync" // answered when all that came before is on the disk
)

// question is what the parent asks. Samples come as chunks, everything else as
// one part in JSON.
type question struct {
	Topic   topic
	Timeout time.Duration // after which nobody waits for the answer

	Mint, Maxt, Step, Range int64             `json:",omitempty"`
	Func                    string            `json:",omitempty"`
	Matchers                []matcher         `json:",omitempty"`
	From, To, Before        time.Time         `json:",omitzero"`
	Kinds                   []model.EventKind `json:",omitempty"`
	ID                      string            `json:",omitempty"`
	Limit                   int               `json:",omitempty"`
}

// matcher is a labels.Matcher in transit.
type matcher struct {
	Type        labels.MatchType
	Name, Value string
}

// packMatchers makes matchers fit to travel.
func packMatchers(ms []*labels.Matcher) []matcher {
	out := make([]matcher, len(ms))
	for i, m := range ms {
		out[i] = matcher{m.Type, m.Name, m.Value}
	}
	return out
}

// unpackMatchers is its inverse.
func unpackMatchers(ms []matcher) ([]*labels.Matcher, error) {
	out := make([]*labels.Matcher, len(ms))
	for i, m := range ms {
		var err error
		if out[i], err = labels.NewMatcher(m.Type, m.Name, m.Value); err != nil {
			return nil, fmt.Errorf("matcher %s: %w", m.Name, err)
		}
	}
	return out, nil
}

// findingAnswer is the answer about one finding.
type findingAnswer struct {
	Found   bool
	Finding model.Finding
}
