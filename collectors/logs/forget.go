package logs

import (
	"slices"
	"time"
)

// A log of which nothing is left is named for so long, and of each folder no
// more than so many are.
const (
	forgetAfter = 5 * time.Minute
	maxGone     = 8
)

// miss notes since when nothing of a log is there; ms is all of it in the folder.
func (s *stream) miss(ms []member, now time.Time) {
	switch {
	case len(ms) > 0 || len(s.parts) > 0:
		s.gone = time.Time{}
	case s.gone.IsZero():
		s.gone = now
	}
}

// forget drops logs that were deleted, as those of pods and those with a date in
// their names are: the oldest first, and none that may be in the middle of a rotation.
func (d *folder) forget(now time.Time) {
	var gone []*stream
	for _, s := range d.order {
		if !s.gone.IsZero() && now.Sub(s.gone) > lingerFor {
			gone = append(gone, s)
		}
	}
	slices.SortStableFunc(gone, func(a, b *stream) int { return a.gone.Compare(b.gone) })
	for i, s := range gone {
		if len(gone)-i > maxGone || now.Sub(s.gone) > forgetAfter {
			d.drop(s)
		}
	}
}

// drop ends a stream of which no file is open: they were deleted, and what comes
// under the name later is a log of its own.
func (d *folder) drop(s *stream) {
	delete(d.streams, s.base)
	d.order = slices.DeleteFunc(d.order, func(o *stream) bool { return o == s })
	d.claims.give(s.claim, d)
	key := d.logKey(s.base)
	d.saved = slices.DeleteFunc(d.saved, func(p Position) bool { return p.Log == key })
	if d.cfg.Close != nil {
		d.cfg.Close(s.feeder.consumer)
	}
}
