package rules

import (
	"context"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	promstorage "github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

const (
	// QuietMetric is the series of what [Engine.Quiet] gives.
	QuietMetric = "stallmark_quiet_worst"
	// quietSignature is its label that names the signature; the others are those
	// of the result that had the value.
	quietSignature = "signature"
)

// QuietValue is one sample that [Engine.Quiet] gives.
type QuietValue struct {
	Labels labels.Labels
	Value  float64
}

// Quiet is the worst quiet value of each signature in the present minute, for
// those that have one, as of the last beat that was judged; nil if that was a
// minute or more before at. Kept as series they tell for any past window by how
// much causes were ruled out, also after a restart; what they tell of a window may
// be up to a minute older than it.
func (e *Engine) Quiet(at time.Time) []QuietValue { return e.book.now(e.pack, at) }

func (k *quietBook) now(pack *Pack, at time.Time) (out []QuietValue) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if age := at.Sub(k.last); age < 0 || age >= time.Minute {
		return nil
	}
	for _, s := range pack.Signatures {
		page := k.worst[s.ID]
		if len(page) == 0 || page[len(page)-1].minute != minuteOf(k.last) {
			continue
		}
		worst := page[len(page)-1]
		set := labels.NewBuilder(worst.labels)
		set.Set(metricName, QuietMetric).Set(quietSignature, s.ID)
		out = append(out, QuietValue{set.Labels(), worst.value})
	}
	return out
}

// quietPast is what the series of quiet values say of one signature.
type quietPast struct {
	worst *promql.Sample
	from  int64 // time of the first value, milliseconds
}

// quietPasts reads the series of quiet values since from, by signature. A point
// a minute is enough of a long window: it has the worst of its minute.
func (b *beat) quietPasts(ctx context.Context, pack *Pack, from time.Time) (map[string]quietPast, error) {
	q, err := b.src.Querier(from.UnixMilli(), b.at.UnixMilli())
	if err != nil {
		return nil, err
	}
	defer q.Close()
	name, err := labels.NewMatcher(labels.MatchEqual, metricName, QuietMetric)
	if err != nil {
		return nil, err
	}
	out := map[string]quietPast{}
	for _, side := range []struct {
		low      bool
		function string
	}{{false, "max_over_time"}, {true, "min_over_time"}} {
		hints := &promstorage.SelectHints{Start: from.UnixMilli(), End: b.at.UnixMilli(), Func: side.function}
		if b.at.Sub(from) > fineGapWindow {
			hints.Step, hints.Range = coarseHint.Milliseconds(), coarseHint.Milliseconds()
		}
		set := q.Select(ctx, false, hints, name)
		for set.Next() {
			s := pack.Signature(set.At().Labels().Get(quietSignature))
			if s == nil || s.Quiet == nil || s.Quiet.Op.Low() != side.low {
				continue
			}
			if past, some := out[s.ID].with(set.At(), s.Quiet.Op); some {
				out[s.ID] = past
			}
		}
		if err := set.Err(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// with takes in one series; some is false if there is nothing yet.
func (p quietPast) with(series promstorage.Series, op Op) (_ quietPast, some bool) {
	it := series.Iterator(nil)
	for it.Next() == chunkenc.ValFloat {
		t, v := it.At()
		if value.IsStaleNaN(v) {
			continue
		}
		if p.worst == nil {
			p.from = t
		}
		if p.from = min(p.from, t); p.worst == nil || op.Further(v, p.worst.F) {
			set := labels.NewBuilder(series.Labels())
			p.worst = &promql.Sample{F: v, Metric: set.Del(metricName, quietSignature).Labels()}
		}
	}
	return p, p.worst != nil
}
