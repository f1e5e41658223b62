package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"stallmark/storage/model"
	"stallmark/web/format"
)

// VerdictKind decides the banner's colour and icon.
type VerdictKind string

// The kinds of verdicts. Unsure: nothing was found, but causes of stalls could
// not be checked. Blind: there is no data.
const (
	Stalling VerdictKind = "stalling"
	Stalled  VerdictKind = "stalled"
	Warning  VerdictKind = "warning"
	Warned   VerdictKind = "warned"
	Calm     VerdictKind = "calm"
	Unsure   VerdictKind = "unsure"
	Blind    VerdictKind = "blind"
)

// Verdict is the banner: what is wrong, since when, why, and what to do.
type Verdict struct {
	Kind       VerdictKind
	Word       string // Stalling, Was stalling ...
	Glyph      Glyph
	Title      string
	Text       string // a sentence for the calm kinds
	Confidence model.Confidence
	Because    string // what makes the confidence
	Started    time.Time
	Ended      time.Time // zero while it lasts
	Lasted     string
	Undated    bool   // nothing told when it was
	Watching   bool   // it has ended, but is not settled: it may return
	Subject    string // what it is about, for instance a device
	Link       string // the root finding's page
	Chain      Chain
	Incident   string // path of the incident's page
	Measured   string // the value that says most, of a stall without a chain
	MeasuredOf string
	Do         *Advice
	Changed    []string // settings that were changed about the beginning, and since
	MoreAdvice int      // further remedies on the finding's page
	RuledOut   []Checked
	Unknown    []Checked
	NotHere    []Checked // what there is nothing to judge by on this host
	Caveat     string    // what keeps the confidence down
}

// Checked is a signature that was ruled out, or could not be judged.
type Checked struct {
	Glyph Glyph
	ID    string
	Title string
	Why   string
	Mend  string
	Link  string
}

// Brief is an incident in one line.
type Brief struct {
	Word       string
	Glyph      Glyph
	Class      string
	Title      string
	Signature  string
	Subject    string
	Layer      model.Layer
	Severity   model.Severity
	Confidence model.Confidence
	Started    time.Time
	Ended      time.Time
	Lasted     string
	Undated    bool // nothing told when it was
	Link       string
}

// NewVerdict reads the banner from a report and the changed settings of its
// window. Blind says that there is no data at all in the window.
func NewVerdict(r model.Report, changes []Change, w Window, blind bool) Verdict {
	v := Verdict{RuledOut: ruledOut(r.RuledOut, w), Unknown: unknown(r.Unknown, w), NotHere: notApplicable(r, w)}
	main := mainIncident(r)
	switch {
	case main != nil:
		v.incident(*main, r, changes, w)
		v.Changed = changedNear(findingsOf(*main, r)[0], changes, w)
	case blind:
		v.Kind, v.Glyph, v.Word = Blind, GlyphUnknown, "No data"
		v.Title = "Nothing was recorded in this window"
		v.Text = "There is no verdict without samples: this is neither good news nor bad."
		if w.Live {
			v.Text += " If Stallmark has just started, the first ones come within seconds and this page fills by itself; if not, the Status page says which sources answer."
		}
		v.RuledOut, v.Unknown, v.NotHere = nil, nil, nil
	default:
		v.nothing(r, w)
	}
	return v
}

// nothing fills the banner when no signature fired.
func (v *Verdict) nothing(r model.Report, w Window) {
	v.Kind, v.Glyph, v.Word = Calm, GlyphOK, "Calm"
	v.Title = "No known stall"
	judged := slices.DeleteFunc(slices.Clone(r.RuledOut), idle)
	v.Text = fmt.Sprintf("%s checked, none fired.", count(len(judged), "signature was", "signatures were"))
	if len(r.Unknown) == 0 {
		return
	}
	v.Text += fmt.Sprintf(" %s not be judged.", count(len(r.Unknown), "could", "could"))
	blindSpots := 0
	for _, u := range r.Unknown {
		if u.Blinds() {
			blindSpots++
		}
	}
	if blindSpots > 0 {
		v.Kind, v.Glyph, v.Word = Unsure, GlyphUnknown, "Not sure"
		v.Title = "Nothing found, but " + count(blindSpots, "possible cause", "possible causes") + " could not be checked"
	}
}

// incident fills the banner from the main incident.
func (v *Verdict) incident(i model.Incident, r model.Report, changes []Change, w Window) {
	all := findingsOf(i, r)
	if len(all) == 0 {
		return
	}
	root := all[0]
	b := briefOf(root, w)
	v.Glyph, v.Word, v.Title, v.Subject, v.Link = b.Glyph, b.Word, b.Title, b.Subject, b.Link
	v.Kind = kindOf(all)
	if v.Kind == Stalling || v.Kind == Stalled {
		v.Word = word(v.Kind)
	}
	v.Confidence, v.Because, v.Caveat = root.Confidence, because(root), format.Clean(root.Caveat)
	v.Incident = w.Link("incidents", root.ID)
	v.Started, v.Ended = i.Started, ended(i.Ended)
	v.Lasted, v.Undated = lasted(v.Started, v.Ended, w), root.Undated
	v.Watching = i.Ended != nil && slices.ContainsFunc(all, func(f model.Finding) bool { return f.State == model.StateFiring })
	if v.Chain = chain(all, changes, w); len(v.Chain.Steps) == 1 {
		v.Measured, v.MeasuredOf = headline(root)
		v.Chain = Chain{}
	}
	if a, more := adviceNow(root); a != nil {
		v.Do, v.MoreAdvice = a, more
	}
	if len(root.RuledOut) > 0 && root.Ended != nil {
		v.RuledOut = ruledOut(root.RuledOut, w) // as it stood while firing
	}
}

func word(k VerdictKind) string {
	if k == Stalling {
		return "Stalling"
	}
	return "Was stalling"
}

func kindOf(all []model.Finding) VerdictKind {
	critical := slices.ContainsFunc(all, func(f model.Finding) bool { return f.Severity == model.SeverityCritical })
	firing := slices.ContainsFunc(all, func(f model.Finding) bool { return f.Ended == nil && !f.Undated })
	switch {
	case critical && firing:
		return Stalling
	case critical:
		return Stalled
	case firing:
		return Warning
	}
	return Warned
}

func ruledOut(all []model.RuledOut, w Window) []Checked {
	var out []Checked
	for _, r := range all {
		if !idle(r) {
			out = append(out, Checked{Glyph: GlyphOK, ID: format.Clean(r.Signature), Title: format.Clean(firstLine(r.Title, r.Signature)), Why: format.Clean(r.Why), Link: w.Link("signatures", r.Signature)})
		}
	}
	slices.SortStableFunc(out, func(a, b Checked) int { return checkedRank(a) - checkedRank(b) })
	return out
}

// notApplicable are the signatures without anything on this host that they are
// about.
func notApplicable(r model.Report, w Window) []Checked {
	var out []Checked
	for _, n := range r.NotApplicable {
		out = append(out, Checked{GlyphAbsent, format.Clean(n.Signature), format.Clean(firstLine(n.Title, n.Signature)), format.Clean(n.Why), format.Clean(n.Mend), w.Link("signatures", n.Signature)})
	}
	for _, c := range r.RuledOut {
		if idle(c) {
			out = append(out, Checked{Glyph: GlyphAbsent, ID: format.Clean(c.Signature), Title: format.Clean(firstLine(c.Title, c.Signature)), Why: format.Clean(c.Why), Link: w.Link("signatures", c.Signature)})
		}
	}
	return out
}

// What the rule engine says of a signature that measures nothing, and what
// signatures say that have nothing to judge on this host.
const (
	notMet    = "its condition is not met"
	notJudged = "not judged"
)

func idle(r model.RuledOut) bool { return strings.HasPrefix(r.Why, notJudged) }

// checkedRank puts what was measured before what was only not met.
func checkedRank(c Checked) int {
	if c.Why == notMet {
		return 1
	}
	return 0
}

func unknown(all []model.Unknown, w Window) []Checked {
	var out []Checked
	for _, u := range all {
		out = append(out, Checked{GlyphUnknown, format.Clean(u.Signature), format.Clean(firstLine(u.Title, u.Signature)), format.Clean(u.Why), format.Clean(u.Mend), w.Link("signatures", u.Signature)})
	}
	return out
}

// count writes a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return format.Value(float64(n), "count") + " " + many
}

func ended(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// lasted is the length of a span that may still go on.
func lasted(started, ended time.Time, w Window) string {
	if ended.IsZero() {
		ended = w.To
	}
	if ended.Before(started) {
		ended = started
	}
	return format.Span(ended.Sub(started))
}
