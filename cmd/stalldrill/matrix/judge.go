package matrix

import (
	"slices"
	"time"

	"stallmark/cmd/stalldrill/drill"
	"stallmark/cmd/stalldrill/work"
	"stallmark/storage/model"
)

// Said is one finding of the recorder.
type Said struct {
	Finding model.Finding
	Root    bool      // of an incident
	First   time.Time // when the recorder was first heard to say it
}

// Verdict is what one drill came to.
type Verdict struct {
	Mode   string     `json:"mode"`
	Began  time.Time  `json:"began"` // zero: it did not begin
	Said   []Word     `json:"said"`
	Right  bool       `json:"right"`
	Wrong  []string   `json:"wrong"`            // why it is not right, in words
	Spoilt string     `json:"spoilt,omitempty"` // why it proves nothing
	Kept   string     `json:"recording,omitempty"`
	Felt   []work.Row `json:"felt"` // what the victim felt, before the drill and in it
}

// Word is one signature as it was said.
type Word struct {
	Signature  string           `json:"signature"`
	Severity   model.Severity   `json:"severity"`
	Confidence model.Confidence `json:"confidence"`
	Root       bool             `json:"root"`
	Seconds    float64          `json:"seconds"` // after the beginning of the drill
	Kind       Kind             `json:"kind"`
}

// Kind is how a word relates to what was provoked.
type Kind string

// The kinds of words.
const (
	Wanted  Kind = "wanted"  // the cause, or one of the causes
	Beside  Kind = "beside"  // may be said: it follows from the cause, is no cause, or weighs little
	Earlier Kind = "earlier" // true before the drill began: not its doing
	Untrue  Kind = "untrue"  // a cause that was not there
)

// slack is how far a finding's beginning may lie before the drill's: it is
// judged from samples a second apart, over a window.
const slack = 1500 * time.Millisecond

// outlast is how long what was there before the drill must go on in it to count
// as said of it: preparing a drill writes and reads too.
const outlast = 5 * time.Second

// Judge compares a drill with what was said about it. Aside are signatures that
// the rest of the machine may earn at any time.
func Judge(res drill.Result, said []Said, aside []string) Verdict {
	v := Verdict{Mode: res.Mode, Began: res.Began, Felt: res.Victim, Spoilt: spoilt(res), Wrong: []string{}, Said: []Word{}}
	wanted := false
	for _, s := range said {
		w := word(res, s, aside)
		if w.Kind == "" {
			continue
		}
		wanted = wanted || w.Kind == Wanted
		if w.Kind == Untrue {
			v.Wrong = append(v.Wrong, w.Signature+" ("+string(w.Severity)+") was not there")
		}
		v.Said = append(v.Said, w)
	}
	slices.SortFunc(v.Said, func(a, b Word) int { return int(1000 * (a.Seconds - b.Seconds)) })
	if len(res.Truth) > 0 && !wanted {
		v.Wrong = append(v.Wrong, "nothing was said of the cause")
	}
	v.Right = len(v.Wrong) == 0
	return v
}

// spoilt is why a drill proves nothing about the recorder, empty if it does.
func spoilt(res drill.Result) string {
	switch {
	case res.Began.IsZero():
		return "did not begin"
	case res.Cut != "":
		return "ended early: " + res.Cut
	case !res.Provoked:
		return "the kernel shows no sign of it"
	}
	return ""
}

// word places one finding; its kind is empty if it is of another time.
func word(res drill.Result, s Said, aside []string) Word {
	f := s.Finding
	w := Word{
		Signature: f.Signature, Severity: f.Severity, Confidence: f.Confidence, Root: s.Root,
		Seconds: max(s.First.Sub(res.Began), 0).Seconds(),
	}
	ended := res.Ended
	if f.Ended != nil && f.Ended.Before(ended) {
		ended = *f.Ended
	}
	before := f.Started.Before(res.Began.Add(-slack))
	truth := slices.Contains(res.Truth, f.Signature)
	switch {
	case f.Started.After(res.Ended) || ended.Before(res.Began):
	case truth:
		w.Kind = Wanted
	case before && (ended.Sub(res.Began) < outlast || f.Started.Before(res.Prepared)):
		w.Kind = Earlier
	case slices.Contains(aside, f.Signature):
		w.Kind = Beside
	case res.Harmless && f.Severity == model.SeverityCritical:
		w.Kind = Untrue
	case slices.Contains(res.Also, f.Signature), f.Layer != model.LayerCause, f.Severity == model.SeverityInfo, !s.Root:
		w.Kind = Beside
	default:
		w.Kind = Untrue
	}
	return w
}
