package snapshot

import (
	"encoding/json"
	"time"

	"stallmark/storage/model"
)

// Format is the version of the archive that is written. Older ones open, newer
// ones are refused.
const Format = 1

// Snapshot is a frozen incident.
type Snapshot struct {
	Meta       Meta
	Report     model.Report
	Events     []model.Event
	Facts      []model.Fact // as they stood at the end, and each that changed
	Signatures []Signature  // the catalogue as it was
	Samples    []Series     // all that was sampled
	Lines      []Line       // what the charts show
}

// Meta says what a snapshot is of. It is part of what is hashed.
type Meta struct {
	Format   int           `json:"format"`
	Created  time.Time     `json:"created"`
	By       string        `json:"by"`                // who asked for it: "page", "command", "automatic"
	Title    string        `json:"title"`             // of the incident
	Finding  string        `json:"finding,omitempty"` // id of the root
	From     time.Time     `json:"from"`
	To       time.Time     `json:"to"`
	Interval time.Duration `json:"interval_ns"`
	Host     string        `json:"host"`
	Version  string        `json:"stallmark"`         // that made it
	Rules    string        `json:"rules"`             // version of the rule pack
	Devices  string        `json:"devices,omitempty"` // PromQL matcher of the disks that the charts show
	Redacted bool          `json:"redacted,omitempty"`
	Parent   string        `json:"parent,omitempty"` // id of the snapshot that was redacted
	Cut      []string      `json:"cut,omitempty"`    // what was left out for its size, in words
	Patterns []Pattern     `json:"patterns,omitempty"`
}

// Pattern is what a page shows of a pattern besides the lines that it has
// recognised.
type Pattern struct {
	ID       string         `json:"id"`
	Product  string         `json:"product,omitempty"`
	Title    string         `json:"title"`
	Proof    model.LogProof `json:"proof"`
	Versions string         `json:"versions,omitempty"`
	Where    string         `json:"where,omitempty"`
	Meaning  string         `json:"meaning,omitempty"`
	Not      string         `json:"not,omitempty"`
}

// Signature is what a page shows of a signature besides its findings.
type Signature struct {
	ID       string         `json:"id"`
	Title    string         `json:"title"`
	Layer    model.Layer    `json:"layer"`
	Severity model.Severity `json:"severity"`
	What     string         `json:"what,omitempty"`
}

// Series is a time series: times in milliseconds, ascending.
type Series struct {
	Labels []model.Label `json:"labels"` // sorted, the metric's name under "__name__"
	T      []int64       `json:"-"`
	V      []float64     `json:"-"`
}

// Line is an expression with the series that it gave over the whole time, one
// value a beat.
type Line struct {
	Expr   string
	Series []Series
}

// parts are the files of the archive that are JSON, in order.
func (s *Snapshot) parts() []part {
	return []part{
		{"meta.json", &s.Meta},
		{"report.json", &s.Report},
		{"events.json", &s.Events},
		{"facts.json", &s.Facts},
		{"signatures.json", &s.Signatures},
	}
}

// part is a file and where its contents go.
type part struct {
	name string
	into any
}

// marshal is how all JSON of an archive is written: the same for the same
// contents, since it is hashed.
func marshal(v any) ([]byte, error) { return json.Marshal(v) }
