package rules

import (
	"context"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	promstorage "github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

// missing lists the needs of a signature that have no sample.
func (b *beat) missing(ctx context.Context, s *Signature) ([]string, error) {
	var out []string
	for _, need := range s.Needs {
		ok, err := b.has(ctx, need)
		if err != nil {
			return nil, err
		}
		if !ok {
			out = append(out, need)
		}
	}
	return out, nil
}

// has reports whether a metric is being measured: one of its series has a
// sample in the last 30 s (or 10 beats) and has not been ended since. The
// newest beats are looked at first, since they nearly always answer.
func (b *beat) has(ctx context.Context, need string) (bool, error) {
	if ok, seen := b.presence[need]; seen {
		return ok, nil
	}
	ok, err := b.alive(ctx, need, minBeats*b.query.interval)
	if err == nil && !ok {
		ok, err = b.alive(ctx, need, max(30*time.Second, 10*b.query.interval))
	}
	if err != nil {
		return false, err
	}
	b.presence[need] = ok
	return ok, nil
}

func (b *beat) alive(ctx context.Context, need string, window time.Duration) (bool, error) {
	m, err := b.query.needMatchers(need)
	if err != nil {
		return false, err
	}
	from, to := b.at.Add(-window).UnixMilli(), b.at.UnixMilli()
	q, err := b.src.Querier(from, to)
	if err != nil {
		return false, err
	}
	defer q.Close()
	set := q.Select(ctx, false, &promstorage.SelectHints{Start: from, End: to}, m...)
	var it chunkenc.Iterator
	for set.Next() {
		it = set.At().Iterator(it)
		if endsAlive(it, from, to) {
			return true, nil
		}
	}
	return false, set.Err()
}

// endsAlive reports whether the last sample in [from, to] is there and is no
// end marker.
func endsAlive(it chunkenc.Iterator, from, to int64) bool {
	alive := false
	for it.Next() == chunkenc.ValFloat {
		if t, v := it.At(); t >= from && t <= to {
			alive = !value.IsStaleNaN(v)
		}
	}
	return alive
}

// needMatchers match a need: a plain name, a selector of some of its series, or a
// regular expression over the name. They are made once: compiling costs more than
// looking.
func (q *Query) needMatchers(need string) ([]*labels.Matcher, error) {
	if m, ok := q.needs.Load(need); ok {
		return m.([]*labels.Matcher), nil
	}
	m, err := q.matchersOf(need)
	if err == nil {
		q.needs.Store(need, m)
	}
	return m, err
}

func (q *Query) matchersOf(need string) ([]*labels.Matcher, error) {
	if selectorNeed.MatchString(need) {
		return q.parser.ParseMetricSelector(need)
	}
	kind := labels.MatchEqual
	if !plainName.MatchString(need) {
		kind = labels.MatchRegexp
	}
	m, err := labels.NewMatcher(kind, metricName, need)
	return []*labels.Matcher{m}, err
}
