package storage

import (
	"encoding/json"
	"math"
	"slices"
	"time"

	"stallmark/storage/model"
)

// note is anything but samples that is to be kept; one field is set.
type note struct {
	Event    *model.Event   `json:"event,omitempty"`
	Fact     *model.Fact    `json:"fact,omitempty"`
	Coverage *coverageNote  `json:"coverage,omitempty"`
	Finding  *model.Finding `json:"finding,omitempty"`
	State    *stateNote     `json:"state,omitempty"`
}

// coverageNote is a source's state from a time on.
type coverageNote struct {
	At    time.Time      `json:"at"`
	State model.Coverage `json:"state"`
}

// encode is the note as JSON.
func (n note) encode() ([]byte, error) { return json.Marshal(n) }

// decodeNote is its inverse.
func decodeNote(b []byte) (n note, err error) {
	err = json.Unmarshal(b, &n)
	return n, err
}

// finite is the finding with values that are no numbers left out: JSON has no
// NaN, and absent is not zero.
func finite(f model.Finding) model.Finding {
	f.Evidence = slices.Clone(f.Evidence)
	for i := range f.Evidence {
		e := &f.Evidence[i]
		e.Value, e.Threshold = finiteOrNil(e.Value), finiteOrNil(e.Threshold)
	}
	return f
}

func finiteOrNil(v *float64) *float64 {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return nil
	}
	return v
}
