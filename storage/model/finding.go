package model

import "time"

// Layer is a signature's place in the chain cause -> mechanism -> symptom.
type Layer string

// The layers.
const (
	LayerCause     Layer = "cause"
	LayerMechanism Layer = "mechanism"
	LayerSymptom   Layer = "symptom"
)

// Severity says how much a finding matters to the service.
type Severity string

// The severities.
const (
	SeverityCritical Severity = "critical"
	SeverityWarning  Severity = "warning"
	SeverityInfo     Severity = "info"
)

// Confidence is computed from the evidence, never written in a rule.
type Confidence string

// The confidences: condition and a direct witness; condition and every
// measurable confirmation; condition only.
const (
	Confirmed Confidence = "confirmed"
	Likely    Confidence = "likely"
	Possible  Confidence = "possible"
)

// Role is what a piece of evidence does for its finding.
type Role string

// The roles. A witness is direct evidence: it turns likely into confirmed.
const (
	RoleWitness     Role = "witness"
	RoleConfirms    Role = "confirms"
	RoleContradicts Role = "contradicts"
	RoleContext     Role = "context"
)

// EvidenceState says whether the value stands on the side of the threshold
// that the role speaks of.
type EvidenceState string

// The states of a piece of evidence.
const (
	EvidenceHolds      EvidenceState = "holds"      // measured, and on that side
	EvidenceFails      EvidenceState = "fails"      // measured, and not
	EvidenceUnmeasured EvidenceState = "unmeasured" // its inputs are missing
	EvidenceShown      EvidenceState = "shown"      // context: no threshold to meet
)

// Evidence is one measured value of a finding. Value and Threshold are nil
// where there is none: absent is not zero.
type Evidence struct {
	Title     string        `json:"title"`
	Value     *float64      `json:"value"`
	Unit      string        `json:"unit"`
	Threshold *float64      `json:"threshold"`
	Role      Role          `json:"role"`
	State     EvidenceState `json:"state"`
	Detail    string        `json:"detail,omitempty"` // witnesses by name, or why it is unmeasured
	Expr      string        `json:"expr,omitempty"`   // the PromQL that gave the value, for the chart
	Limit     string        `json:"limit,omitempty"`  // the PromQL of the threshold, if it moves
}

// RemedyKind says when a remedy is for.
type RemedyKind string

// The kinds of remedies.
const (
	RemedyNow    RemedyKind = "now"
	RemedyLater  RemedyKind = "later"
	RemedyAccept RemedyKind = "accept"
)

// Remedy is advice rendered for this host.
type Remedy struct {
	Title    string     `json:"title"`
	Kind     RemedyKind `json:"kind"`
	Why      string     `json:"why,omitempty"`
	Current  string     `json:"current,omitempty"` // the present setting, in words
	Apply    string     `json:"apply,omitempty"`   // command
	Persist  string     `json:"persist,omitempty"` // what to write where, to survive a reboot
	Rollback string     `json:"rollback,omitempty"`
	Verify   string     `json:"verify,omitempty"`
	Risk     string     `json:"risk,omitempty"`
}

// FindingState is where a finding is in its life.
type FindingState string

// The states of a finding.
const (
	StatePending  FindingState = "pending" // true, not yet for long enough
	StateFiring   FindingState = "firing"
	StateResolved FindingState = "resolved"
)

// Finding is one signature recognised on one subject for a span of time.
type Finding struct {
	ID         string            `json:"id"`
	Signature  string            `json:"signature"`
	Title      string            `json:"title"`
	Layer      Layer             `json:"layer"`
	Severity   Severity          `json:"severity"`
	State      FindingState      `json:"state"`
	Confidence Confidence        `json:"confidence"`
	Subject    map[string]string `json:"subject"`
	Started    time.Time         `json:"started"`
	Ended      *time.Time        `json:"ended"` // nil while it goes on; known before it is resolved if its condition looks back
	// Undated is true where nothing told when it was: Started is then when the texts
	// were read, and only how long it lasted is known.
	Undated bool `json:"undated,omitempty"`
	// Told is when a log first said so, for what a log says when it is over; nil:
	// it was seen as it began. Its cause may begin up to then.
	Told     *time.Time `json:"told,omitempty"`
	Evidence []Evidence `json:"evidence"`
	Explains []string   `json:"explains"`
	// Independent is true where it is measured that what may explain this finding
	// is not what makes it.
	Independent bool       `json:"independent,omitempty"`
	RuledOut    []RuledOut `json:"ruled_out,omitempty"` // as it stood while firing
	Remedy      []Remedy   `json:"remedy"`
	Caveat      string     `json:"caveat,omitempty"` // what keeps the confidence down, like "no baseline yet"
	What        string     `json:"what,omitempty"`   // the mechanism, as the rule pack had it
}

// Incident groups findings that overlap in time under one root.
type Incident struct {
	Root     string     `json:"root"`     // the id of the root finding
	Findings []string   `json:"findings"` // ids, root first
	Started  time.Time  `json:"started"`
	Ended    *time.Time `json:"ended"`
}

// RuledOut is a signature that was checked and is not the cause, with the
// measured value that says so.
type RuledOut struct {
	Signature string `json:"signature"`
	Title     string `json:"title,omitempty"`
	Why       string `json:"why"`
}

// Unknown is a signature that could not be judged, and why.
type Unknown struct {
	Signature string   `json:"signature"`
	Title     string   `json:"title,omitempty"`
	Layer     Layer    `json:"layer,omitempty"`
	Severity  Severity `json:"severity,omitempty"`
	Why       string   `json:"why"`
	Mend      string   `json:"mend,omitempty"`
	Lacking   bool     `json:"lacking,omitempty"` // this host cannot have what is missing, say for its kernel's age
}

// Blinds reports whether a critical cause could not be judged for want of what
// this host could have: then silence is no good news.
func (u Unknown) Blinds() bool {
	return u.Layer == LayerCause && u.Severity == SeverityCritical && !u.Lacking
}

// NotApplicable is a signature without anything on this host that it is about,
// say a broker's file descriptors where no broker is watched. It is neither
// ruled out nor unknown.
type NotApplicable struct {
	Signature string   `json:"signature"`
	Title     string   `json:"title,omitempty"`
	Layer     Layer    `json:"layer,omitempty"`
	Severity  Severity `json:"severity,omitempty"`
	Why       string   `json:"why"`
	Mend      string   `json:"mend,omitempty"` // what would make it apply
}

// Window is a span of time.
type Window struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// Excerpt is one piece of a text that was given and what it was understood to be.
type Excerpt struct {
	File   string   `json:"file"`
	From   int      `json:"from_line"` // counted from 1
	To     int      `json:"to_line"`
	Format string   `json:"format"`          // "vmstat", "iostat -x" ...; empty if it was not understood
	Says   []string `json:"says,omitempty"`  // what is in it, in words
	Signs  []string `json:"signs,omitempty"` // what stands out in it, with line numbers: no verdict
	Notes  []string `json:"notes,omitempty"` // what was left out or assumed, with line numbers
}

// Report is the whole verdict about one window; `stallmark diagnose --json`
// prints it.
type Report struct {
	Window        Window          `json:"window"`
	Findings      []Finding       `json:"findings"`
	Incidents     []Incident      `json:"incidents"`
	RuledOut      []RuledOut      `json:"ruled_out"`
	Unknown       []Unknown       `json:"unknown"`
	NotApplicable []NotApplicable `json:"not_applicable"`
	Coverage      []Coverage      `json:"coverage"`
	Excerpts      []Excerpt       `json:"excerpts,omitempty"` // of a verdict from texts: what each piece was
	Decide        []string        `json:"decide,omitempty"`   // commands whose output would tell more
}
