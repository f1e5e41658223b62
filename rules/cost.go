package rules

import (
	"fmt"
	"maps"
	"slices"

	"stallmark/storage/model"
)

// What a user's signature may cost. Samples read are counted, not time: they are
// the same on a busy host, where a budget of time would take away what is needed
// then. Ten million samples a second are read by a core of this decade's, so the
// budget is a hundredth of a core at a beat a second; the shipped ones read a few
// hundred each while nothing is wrong.
const (
	maxCost   = 100_000 // samples a beat
	costTries = 10      // beats over it, each forgiven by one within it, until it is switched off
)

// meter counts what judging one signature costs.
type meter struct {
	beat  int64 // samples read in this beat
	beats int64 // judged so far
	total int64 // samples read so far
	peak  int64 // of one beat
	over  int   // beats over the budget that are not forgiven
	off   bool  // it is not judged any more
}

// close ends a beat.
func (m *meter) close(limited bool) {
	m.beats++
	m.total += m.beat
	m.peak = max(m.peak, m.beat)
	switch {
	case m.beat > maxCost:
		m.over++
	case m.over > 0:
		m.over--
	}
	m.off = m.off || limited && m.over >= costTries
	m.beat = 0
}

// Cost is what judging one signature has cost since the rules were loaded.
// Expressions that several share are counted for the first of them.
type Cost struct {
	Signature string  `json:"signature"`
	BuiltIn   bool    `json:"built_in"`
	Mean      float64 `json:"mean"`   // samples read a beat
	Peak      int64   `json:"peak"`   // of one beat
	Budget    int64   `json:"budget"` // samples a beat; 0: none, a shipped one
	Off       bool    `json:"off"`    // it went over its budget again and again, and is not judged any more
}

// Costs lists what the signatures cost, the dearest first.
func (e *Engine) Costs() []Cost {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := []Cost{}
	for _, s := range e.pack.Signatures {
		m := e.meters[s.ID]
		if m == nil {
			continue
		}
		c := Cost{Signature: s.ID, BuiltIn: s.BuiltIn, Mean: float64(m.total) / float64(max(m.beats, 1)), Peak: m.peak, Off: m.off}
		if !s.BuiltIn {
			c.Budget = maxCost
		}
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b Cost) int {
		switch {
		case a.Mean > b.Mean:
			return -1
		case a.Mean < b.Mean:
			return 1
		}
		return 0
	})
	return out
}

// meter is that of a signature; what is read from now on is counted for it.
func (e *Engine) meter(b *beat, s *Signature) *meter {
	m := e.meters[s.ID]
	if m == nil {
		m = &meter{}
		e.meters[s.ID] = m
	}
	b.count(&m.beat)
	return m
}

// closeMeters ends the beat of all.
func (e *Engine) closeMeters(b *beat) {
	b.count(nil)
	for _, s := range e.pack.Signatures {
		if m := e.meters[s.ID]; m != nil && !m.off {
			m.close(!s.BuiltIn)
		}
	}
}

// silence ends the findings of a signature that is not judged any more.
func (e *Engine) silence(s *Signature) []move {
	var moves []move
	for _, key := range slices.Sorted(maps.Keys(e.subjects[s.ID])) {
		if t := e.subjects[s.ID][key]; t.phase == firing && t.shown.ID != "" {
			moves = append(moves, e.remove(t, key))
		} else {
			delete(e.subjects[s.ID], key)
		}
	}
	return moves
}

// tooDear says that a signature was switched off, nil if it was not.
func (e *Engine) tooDear(s *Signature) *model.Unknown {
	e.mu.Lock()
	defer e.mu.Unlock()
	m := e.meters[s.ID]
	if m == nil || !m.off {
		return nil
	}
	u := newUnknown(s)
	u.Why = fmt.Sprintf("it is switched off: it read up to %s samples a beat, its budget is %s", formatNumber(float64(m.peak)), formatNumber(maxCost))
	u.Mend = "shorten its ranges, name its metrics and labels, then reload the rules (SIGHUP)"
	return u
}
