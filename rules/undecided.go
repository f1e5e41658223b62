package rules

import (
	"context"
	"fmt"
	"time"

	promstorage "github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"stallmark/storage/model"
)

// fullRange is how much of its longest range a condition must have seen before
// its silence means something: a rate over ten seconds of which two have passed
// is a fifth of the true one. Longer ranges are there to remember.
const fullRange = 10 * time.Second

// maxPatience is what a signature may ask for at most: a live diagnosis watches
// for fifteen seconds, and that must be enough for all of them.
const maxPatience = 14 * time.Second

// undecided says why a signature whose inputs are there is neither found nor
// ruled out at the beat, nil if it is one of them: its condition holds, but not
// yet for long enough, or has not been watched for long enough.
func (e *Engine) undecided(ctx context.Context, b *beat, s *Signature) (*model.Unknown, error) {
	if now, _, err := b.applies(ctx, s, b.at); err != nil || !now {
		return nil, wrap(s.ID, err)
	}
	u := newUnknown(s)
	u.Mend = "watch for longer"
	holds, err := e.holdsAt(ctx, b, s)
	if err != nil {
		return nil, wrap(s.ID, err)
	}
	if holds {
		u.Why = fmt.Sprintf("its condition holds, but not yet for the %v after which it counts", s.For)
		return u, nil
	}
	want := e.patience(s)
	seen, err := e.watched(ctx, b, s, want)
	if err != nil {
		return nil, wrap(s.ID, err)
	}
	if seen+2*e.interval >= want {
		return nil, nil
	}
	u.Why = fmt.Sprintf("watched for %v only, ruling it out takes %v", seen.Round(time.Second), want.Round(time.Second))
	return u, nil
}

// patience is how long a signature must be watched before it can be ruled out.
func (e *Engine) patience(s *Signature) time.Duration {
	expr, err := e.query.parser.ParseExpr(s.When)
	if err != nil {
		return s.For
	}
	return max(min(min(longestRange(expr), fullRange)+s.For, maxPatience), minBeats*e.interval)
}

// watched is for how long, up to most, all needs of a signature have been
// measured at the beat. An engine that has judged for that long does not ask.
func (e *Engine) watched(ctx context.Context, b *beat, s *Signature, most time.Duration) (time.Duration, error) {
	e.mu.Lock()
	begun := e.begun
	e.mu.Unlock()
	// What a signature is about may have come later.
	if age := b.at.Sub(begun); age >= most && s.Applies == nil {
		return most, nil
	}
	seen := most
	for _, need := range s.Needs {
		first, err := b.first(ctx, need, most)
		if err != nil {
			return 0, err
		}
		seen = min(seen, b.at.Sub(first))
	}
	return seen, nil
}

// first is the time of the first sample of a metric in the window before the
// beat, or the beat's if there is none.
func (b *beat) first(ctx context.Context, need string, window time.Duration) (time.Time, error) {
	m, err := b.query.needMatchers(need)
	if err != nil {
		return b.at, err
	}
	from, to := b.at.Add(-window-time.Millisecond).UnixMilli(), b.at.UnixMilli()
	q, err := b.src.Querier(from, to)
	if err != nil {
		return b.at, err
	}
	defer q.Close()
	first := to
	set := q.Select(ctx, false, &promstorage.SelectHints{Start: from, End: to}, m...)
	var it chunkenc.Iterator
	for set.Next() {
		it = set.At().Iterator(it)
		for it.Next() == chunkenc.ValFloat {
			if t, _ := it.At(); t >= from {
				first = min(first, t)
				break
			}
		}
	}
	return time.UnixMilli(first).UTC(), set.Err()
}
