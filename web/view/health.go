package view

import (
	"encoding/json"
	"time"

	"stallmark/web/format"
)

// Health is what Stallmark knows about itself.
type Health struct {
	Started      time.Time     `json:"started"`
	Interval     time.Duration `json:"interval_ns"`
	RulesVersion string        `json:"rules_version"`
	RuleProblems []string      `json:"rule_problems"` // mistakes in user files, each with its place
	Storage      Storage       `json:"storage"`
}

// MarshalJSON implements json.Marshaler. Lists are never null, and the time is
// written as in every other answer.
func (h Health) MarshalJSON() ([]byte, error) {
	type plain Health
	h.RuleProblems = append([]string{}, h.RuleProblems...)
	h.Storage.BadBlocks = append([]string{}, h.Storage.BadBlocks...)
	return json.Marshal(struct {
		Started string `json:"started"`
		plain
	}{format.ISO(h.Started), plain(h)})
}

// Storage is the state of the store. A store in memory alone has no path.
type Storage struct {
	Path      string        `json:"path,omitempty"`
	Up        bool          `json:"up"`     // the process that writes the file answers
	Detail    string        `json:"detail"` // why not, in words
	Bytes     int64         `json:"bytes"`
	MaxBytes  int64         `json:"max_bytes"` // 0: no bound
	Blocks    int           `json:"blocks"`
	BadBlocks []string      `json:"bad_blocks"`
	LastWrite time.Duration `json:"last_write_ns"` // how long the last write took
	LostBeats int64         `json:"lost_beats"`    // beats that could not be stored
	More      []Pair        `json:"more,omitempty"`
}

// Pair is a name and a text beside it.
type Pair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}
