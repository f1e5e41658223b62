package rules

import (
	"time"

	"stallmark/storage/model"
)

// Signature is one known kind of stall, as its file has it. Expressions are
// PromQL; texts that carry templates have the syntax of Go templates.
type Signature struct {
	ID       string
	Title    string
	Layer    model.Layer
	Severity model.Severity
	File     string // where it was read from
	BuiltIn  bool

	// Needs are metric names without which nothing can be said. An entry that
	// is not a plain name is a regular expression over the whole name, for
	// names that differ by kernel.
	Needs []string
	// Limits are, by need, what kernels lack it and what to do there.
	Limits map[string]NeedLimit
	// Applies says whether there is anything on this host that the signature is
	// about; nil: always.
	Applies *Applies
	// Baselines are what the signature wants to be learned of quiet hours.
	Baselines []BaselineRule
	// When gives one series for each subject of which the condition holds.
	When string
	// Extent gives a series at the beats in which the stall itself goes on; it
	// finds where the stall began and ended when When judges a window. Optional.
	Extent        string
	Lookback      time.Duration // how far Extent may be followed back
	For           time.Duration // how long When must hold before it fires
	KeepFiringFor time.Duration // silence that is bridged before it is resolved

	Evidence     []EvidenceRule
	Explains     []string          // ids of signatures that this one accounts for
	While        map[string]string // for some of them: gives the subjects for which it does
	Independent  string            // gives the subjects that nothing else accounts for, whatever explains this signature
	Quiet        *Quiet            // nil if the file has none
	Differential []string          // ids shown first among the ruled-out
	What         string
	Remedy       []RemedyRule
	References   []string
	Proven       Proof
	Tests        []TestCase

	refs []reference
}

// NeedLimit says of a need that not every kernel has it.
type NeedLimit struct {
	Since string // the Linux version that brought it, like 4.13
	Else  string // where to look without it
}

// Applies is the condition under which a signature has a subject at all.
type Applies struct {
	Expr string // no result: not applicable
	None string // what is said then, like "no watched broker"
}

// reference is a mention of another signature, with its place in the file.
type reference struct {
	key, id      string
	line, column int
}

// EvidenceRule says how one piece of evidence is measured.
type EvidenceRule struct {
	Title     string
	Expr      string
	Unit      string
	Threshold Threshold
	Op        Op
	Role      model.Role
	Wait      []string     // witness only: `wait` of the blocked threads that are named
	Told      *TellingRule // what events tell of it besides; nil: nothing
}

// TellingRule selects the events that tell of a finding: lines of logs, or a
// JVM's pauses. They say when it really began, since they are written when it is
// over.
type TellingRule struct {
	Kind    model.EventKind
	Attr    string   // the attribute that is compared
	Values  []string // of it
	Counted bool     // their number is the value

	// Before is how long before the finding events count too; none of them then says when it began. It is for what a program
	// says once in a while. 0: those of the finding alone.
	Before time.Duration
	// After is how long after its end events count too: they amend the resolved finding. It is for a program that says later
	// what was.
	After time.Duration
}

// Threshold is a number, an expression, or neither.
type Threshold struct {
	Number *float64
	Expr   string
}

// Set reports whether there is a threshold at all.
func (t Threshold) Set() bool { return t.Number != nil || t.Expr != "" }

// Op is the side of the threshold on which a value holds.
type Op string

// The operators.
const (
	Above        Op = ">"
	Below        Op = "<"
	AboveOrEqual Op = ">="
	BelowOrEqual Op = "<="
)

// Holds reports whether v stands on that side of the threshold.
func (o Op) Holds(v, threshold float64) bool {
	switch o {
	case Below:
		return v < threshold
	case AboveOrEqual:
		return v >= threshold
	case BelowOrEqual:
		return v <= threshold
	}
	return v > threshold
}

// Low reports whether a smaller value says more.
func (o Op) Low() bool { return o == Below || o == BelowOrEqual }

// Further reports whether a says more than b.
func (o Op) Further(a, b float64) bool {
	if o.Low() {
		return a < b
	}
	return a > b
}

// Quiet is the line by which a signature is ruled out: a measured value, and a
// template with {{.Value}} (formatted in the unit) and {{.Labels.name}}.
type Quiet struct {
	Expr string
	Unit string
	Text string
	Op   Op // Below where a small value is the bad one
}

// RemedyRule is advice before it is rendered for a host.
type RemedyRule struct {
	Title  string
	Kind   model.RemedyKind
	Why    string
	When   string            // shown only if this gives a sample; optional
	Values map[string]string // PromQL by name, for {{.V.name}}

	Current, Apply, Persist, Rollback, Verify, Risk string // templates
}

// TestCase is one entry of a file's tests: synthetic series in promtool's
// notation and the expected state.
type TestCase struct {
	Name       string
	Line       int // in the file
	Interval   time.Duration
	Series     []string
	Facts      map[string]string
	Expect     Expectation
	At         time.Duration // since the first sample; negative is the last sample
	Subject    map[string]string
	Confidence model.Confidence // empty is any
}

// Expectation is the state that a test demands.
type Expectation string

// The expectations. Quiet demands that nothing has fired up to then; resolved
// that something has, and no longer does.
const (
	ExpectFiring   Expectation = "firing"
	ExpectPending  Expectation = "pending"
	ExpectResolved Expectation = "resolved"
	ExpectQuiet    Expectation = "quiet"
	ExpectUnknown  Expectation = "unknown"
	ExpectNone     Expectation = "not_applicable"
)
