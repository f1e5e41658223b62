package rules

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/prometheus/promql"

	"stallmark/storage/model"
)

// adviseEvery is how often the advice of a finding that goes on is rendered
// anew.
const adviseEvery = 5 * time.Second

// tracked is one subject of one signature while it is pending or firing.
type tracked struct {
	life
	sig     *Signature
	subject map[string]string
	floor   time.Time // end of the subject's previous finding

	started   time.Time
	told      tellings
	extent    time.Time // last beat in which the extent held; zero if none
	peaks     []peak
	witnesses witnesses
	ruling    ruling
	ruledOut  []model.RuledOut
	apart     int            // beats in which it was independent, less those in which it was not
	whiles    map[string]int // the same of each condition on which it explains another
	sure      model.Confidence
	caveat    string // what keeps it from being surer
	remedy    []model.Remedy
	advised   time.Time
	restored  *restoration // nil unless it comes from before a restart

	id    string
	shown model.Finding // as last given out
}

func (e *Engine) timing(s *Signature) timing {
	return timing{hold: s.For, keep: s.KeepFiringFor, interval: e.interval}
}

// open makes the finding of a subject that has begun to fire: it finds the
// stall's beginning and reads the evidence since then.
func (t *tracked) open(ctx context.Context, b *beat) error {
	during, err := t.findStart(ctx, b)
	t.id = FindingID(t.sig.ID, t.subject, t.started)
	errs := []error{err}
	for i := range t.sig.Evidence {
		p := peak{rule: &t.sig.Evidence[i]}
		want := func(int64) bool { return true }
		if p.rule.Op.Low() && len(during) > 0 {
			want = func(at int64) bool { return during[at] }
		}
		errs = append(errs, p.readSpan(ctx, b, t.subject, t.started, want))
		t.peaks = append(t.peaks, p)
	}
	return errors.Join(errs...)
}

// findStart follows the extent back from the beat where the condition became
// true, over gaps shorter than keep_firing_for. It gives the beats (in
// milliseconds) in which the extent held.
func (t *tracked) findStart(ctx context.Context, b *beat) (map[int64]bool, error) {
	t.started = t.since
	if t.sig.Extent == "" {
		return nil, nil
	}
	from := t.since.Add(-t.sig.Lookback)
	if t.floor.After(from) {
		from = t.floor.Add(b.query.interval)
	}
	if from.After(b.at) {
		from = b.at
	}
	values, err := b.span(ctx, t.sig.Extent, from)
	if err != nil {
		return nil, err
	}
	during := map[int64]bool{}
	for at, v := range values {
		if speaksOf(v, t.subject) {
			during[at] = true
		}
	}
	// Beats jitter, so the times of the span are not multiples of the interval
	// away from the beat where the condition became true: they are compared with
	// half an interval to spare.
	spare := b.query.interval / 2
	gap := max(t.sig.KeepFiringFor, b.query.interval) + spare
	cursor, found := t.since, false
	for _, ms := range slices.Backward(slices.Sorted(maps.Keys(during))) {
		at := time.UnixMilli(ms).UTC()
		if t.extent.IsZero() {
			t.extent = at
		}
		switch {
		case at.After(t.since.Add(spare)):
			if !found {
				t.started = at
			}
		case cursor.Sub(at) <= gap:
			cursor, found = at, true
			t.started = at
		}
	}
	return during, nil
}

// speaksOf reports whether any sample agrees with the subject.
func speaksOf(v promql.Vector, subject map[string]string) bool {
	for i := range v {
		if Agrees(subject, v[i].Metric) {
			return true
		}
	}
	return false
}

// read takes in one more beat of a firing subject. holds says whether the
// condition held in it.
func (t *tracked) read(ctx context.Context, b *beat, holds bool) error {
	going := holds
	if t.sig.Extent != "" {
		v, err := b.lean(ctx, t.sig.Extent)
		if err != nil {
			return err
		}
		if going = speaksOf(v, t.subject); going {
			t.extent = b.at
		}
	}
	var errs []error
	for i := range t.peaks {
		p := &t.peaks[i]
		if going || holds && !p.rule.Op.Low() {
			errs = append(errs, p.readBeat(ctx, b, t.subject))
		}
		if p.rule.Told != nil {
			errs = append(errs, t.told.read(ctx, b, t, i, b.at))
		}
		if len(p.rule.Wait) > 0 {
			errs = append(errs, t.witnesses.read(ctx, b.src, p.rule, t.subject, t.started, b.at))
		}
	}
	return errors.Join(errs...)
}

// advise renders the advice, not at every beat.
func (t *tracked) advise(ctx context.Context, b *beat) error {
	if !t.advised.IsZero() && b.at.Sub(t.advised) < adviseEvery {
		return nil
	}
	t.advised = b.at
	var err error
	t.remedy, err = remedies(ctx, b, t.sig, t.subject)
	return err
}

// evidence gives the peaks as evidence, with names and reasons.
func (t *tracked) evidence(ctx context.Context, b *beat, holds bool) []model.Evidence {
	out := make([]model.Evidence, 0, len(t.peaks))
	for i := range t.peaks {
		p := &t.peaks[i]
		e := p.evidence()
		t.told.show(&e, p, i)
		if len(p.rule.Wait) > 0 && len(t.witnesses.seen) > 0 {
			n := float64(len(t.witnesses.seen))
			if e.Value == nil || *e.Value < n {
				e.Value = &n
			}
			e.State, e.Threshold = model.EvidenceHolds, p.rule.Threshold.Number
		}
		if len(p.rule.Wait) > 0 && e.State == model.EvidenceHolds {
			e.Detail = cmp.Or(t.witnesses.names(), e.Detail)
		}
		if e.State == model.EvidenceUnmeasured {
			if holds || p.reason == "" {
				p.reason = p.unmeasured(ctx, b)
			}
			e.Detail = p.reason
		}
		out = append(out, e)
	}
	return out
}

// finding is the subject's finding at this beat.
func (t *tracked) finding(ctx context.Context, b *beat, holds bool) model.Finding {
	f := model.Finding{
		ID: t.id, Signature: t.sig.ID, Title: t.sig.Title, Layer: t.sig.Layer, Severity: t.sig.Severity,
		State: model.StateFiring, Subject: t.subject, Started: t.began(), Told: t.told.first,
		Evidence: t.evidence(ctx, b, holds), Explains: t.explains(),
		RuledOut: t.ruledOut, Remedy: t.remedy, Caveat: t.caveat, What: t.sig.What,
	}
	f.Independent = t.apart > 0
	if f.Remedy == nil {
		f.Remedy = []model.Remedy{}
	}
	t.sure = surer(t.sure, withCaveat(ConfidenceOf(f.Evidence), t.caveat))
	f.Confidence = t.sure
	return f
}

// weigh notes whether anything else can account for the subject in this beat, and
// what the subject accounts for.
// Most beats decide, so that one burst of another's traffic does not.
func (t *tracked) weigh(ctx context.Context, b *beat) error {
	errs := []error{t.count(ctx, b, t.sig.Independent, &t.apart)}
	for id, expr := range t.sig.While {
		n := t.whiles[id]
		errs = append(errs, t.count(ctx, b, expr, &n))
		if t.whiles == nil {
			t.whiles = map[string]int{}
		}
		t.whiles[id] = n
	}
	return errors.Join(errs...)
}

// count adds one to n if the expression speaks of the subject in this beat, and
// takes one off if it does not.
func (t *tracked) count(ctx context.Context, b *beat, expr string, n *int) error {
	if expr == "" {
		return nil
	}
	v, err := b.instant(ctx, expr)
	switch {
	case err != nil:
		return err
	case speaksOf(v, t.subject):
		*n++
	default:
		*n--
	}
	return nil
}

// explains are the signatures that the subject accounts for.
func (t *tracked) explains() []string {
	out := []string{}
	for _, id := range t.sig.Explains {
		if t.sig.While[id] == "" || t.whiles[id] > 0 {
			out = append(out, id)
		}
	}
	return out
}

// end is when the stall was last seen.
func (t *tracked) end() time.Time {
	end := t.last
	if !t.extent.IsZero() {
		end = t.extent
	}
	if end.Before(t.began()) {
		end = t.began()
	}
	return end
}

// FindingID is the id of a finding: the same stall seen live and in a replay
// has the same one.
func FindingID(signature string, subject map[string]string, started time.Time) string {
	text := signature + "\x00" + subjectKey(subject) + "\x00" + started.UTC().Format(time.RFC3339Nano)
	sum := sha256.Sum256([]byte(text))
	return signature + "-" + hex.EncodeToString(sum[:6])
}
