package rules

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"stallmark/storage/model"
)

// How baselines are learned.
const (
	baselineEvery  = 10 * time.Second // between two readings
	baselineHour   = time.Hour
	baselineSettle = 5 * time.Minute // after an hour, in which a finding may still turn out to have begun in it
	leastReadings  = 180             // half an hour of them, or the hour tells too little
	// MinBaselineHours is how many finding-free hours make a baseline: fewer
	// are not yet what is usual.
	MinBaselineHours = 3
	halfLifeHours    = 168 // of what was learned: a week of hours without a finding
	maxBaselines     = 500 // names of devices and processes come from the host
	baselineForget   = 60 * 24 * time.Hour
)

// Names of the series.
const (
	baselineMetric      = "stallmark_baseline"
	baselineHoursMetric = "stallmark_baseline_hours"
	baselineAgeMetric   = "stallmark_baseline_age_seconds"
	baselineLabel       = "baseline"
)

// Baselines learns what is usual on this host, incrementally and without a look
// back. Every ten seconds it takes one reading of each baseline that a
// signature asks for, into a histogram of the hour, one for each label set. An
// hour counts once five minutes have passed without a finding that reaches into
// it; hours with findings are dropped whole, and so are those of which less than
// half was seen. What was learned fades with a half-life of 168 such hours, so
// that a new disk's ways are learned within a week.
//
// Findings that are merely possible for want of this very baseline do not stop
// the learning: else a host that is always busy would never have one.
//
// It outlives a rule pack. It is safe for concurrent use.
type Baselines struct {
	mu      sync.Mutex
	known   map[string]*learned
	current hour
	closed  hour // ended, and not yet known to be free of findings
	read    time.Time
	version uint64
}

// learned is what is known of one label set.
type learned struct {
	name   string
	labels map[string]string
	unit   string
	usual  histogram
	hours  int
	last   time.Time // end of the hour that was learned last
}

// hour is one hour that is gathered.
type hour struct {
	from    time.Time
	dirty   bool
	sampled map[string]*gathered
}

type gathered struct {
	rule     BaselineRule
	labels   map[string]string
	values   histogram
	readings int
}

// NewBaselines knows nothing yet.
func NewBaselines() *Baselines { return &Baselines{known: map[string]*learned{}} }

// Version changes whenever something was learned.
func (k *Baselines) Version() uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.version
}

// Learn has an engine feed baselines.
func (e *Engine) Learn(k *Baselines) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.baselines = k
}

// learn takes one beat; the engine is locked.
func (e *Engine) learn(ctx context.Context, b *beat) error {
	k := e.baselines
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.turn(b.at)
	for _, subjects := range e.subjects {
		for _, t := range subjects {
			if t.phase == firing && t.caveat == "" && t.sig.Severity != model.SeverityInfo {
				k.spoil(t.started)
			}
		}
	}
	if age := b.at.Sub(k.read); age >= 0 && age < baselineEvery-e.interval/2 {
		return nil
	}
	k.read = b.at
	for _, s := range e.pack.Signatures {
		if e.meter(b, s).off {
			continue
		}
		for _, rule := range s.Baselines {
			v, err := b.instant(ctx, rule.Expr)
			if err != nil {
				return fmt.Errorf("%s: baseline %s: %w", s.ID, rule.Name, err)
			}
			for i := range v {
				k.take(rule, subjectOf(v[i].Metric), v[i].F)
			}
		}
	}
	return nil
}

// turn follows the clock: it ends hours, and learns those that were free of
// findings. A clock that was set back begins anew.
func (k *Baselines) turn(at time.Time) {
	if end := k.closed.from.Add(baselineHour); !k.closed.from.IsZero() && !at.Before(end.Add(baselineSettle)) {
		if !k.closed.dirty {
			k.merge(k.closed, end)
		}
		k.closed = hour{}
	}
	from := at.Truncate(baselineHour)
	if k.current.from.Equal(from) {
		return
	}
	if from.Equal(k.current.from.Add(baselineHour)) && len(k.current.sampled) > 0 {
		k.closed = k.current
	} else if from.Before(k.current.from) {
		k.closed = hour{}
	}
	k.current = hour{from: from, sampled: map[string]*gathered{}}
}

// spoil says that something was found since a time.
func (k *Baselines) spoil(since time.Time) {
	k.current.dirty = true
	if since.Before(k.closed.from.Add(baselineHour)) {
		k.closed.dirty = true
	}
}

func (k *Baselines) take(rule BaselineRule, set map[string]string, v float64) {
	if !finite(v) {
		return
	}
	key := rule.Name + "\x00" + subjectKey(set)
	g := k.current.sampled[key]
	if g == nil {
		if len(k.current.sampled) >= maxBaselines {
			return
		}
		g = &gathered{rule: rule, labels: set, values: histogram{}}
		k.current.sampled[key] = g
	}
	g.values[bucketOf(v)]++
	g.readings++
}

// merge learns an hour.
func (k *Baselines) merge(h hour, end time.Time) {
	fade := math.Exp2(-1.0 / halfLifeHours)
	for key, g := range h.sampled {
		if g.readings < leastReadings {
			continue
		}
		l := k.known[key]
		if l == nil {
			l = &learned{name: g.rule.Name, labels: g.labels, usual: histogram{}}
			k.known[key] = l
		}
		l.usual.learn(g.values, fade)
		l.unit, l.last = g.rule.Unit, end
		l.hours++
		k.version++
	}
	k.forget(end)
}

// forget drops what was not seen for long, and the oldest of too many.
func (k *Baselines) forget(now time.Time) {
	var keys []string
	for key, l := range k.known {
		if now.Sub(l.last) > baselineForget {
			delete(k.known, key)
			continue
		}
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(k.known[a].last.Compare(k.known[b].last), strings.Compare(a, b))
	})
	for _, key := range keys[:max(0, len(keys)-maxBaselines)] {
		delete(k.known, key)
	}
}

// Gap says why there is no baseline, or nothing if there is one. learning is
// whether hours are being learned here at all.
func (k *Baselines) Gap() (detail, mend string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	most := 0
	for _, l := range k.known {
		most = max(most, l.hours)
	}
	if most >= MinBaselineHours {
		return "", ""
	}
	return fmt.Sprintf("no baseline yet: %d of %d finding-free hours", most, MinBaselineHours),
		"leave Stallmark running: it learns from hours without findings"
}

// Series is what rules compare with, at a time: for each baseline its median and
// its 0.9 and 0.99 quantiles, once it has enough hours; for every one how many
// hours it has and how long ago it last learned, in seconds.
func (k *Baselines) Series(now time.Time) []BaselineValue {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []BaselineValue
	for _, key := range k.sortedKeys() {
		l := k.known[key]
		add := func(metric, quantile string, v float64) {
			set := labels.NewBuilder(labels.FromMap(l.labels))
			set.Set(metricName, metric).Set(baselineLabel, l.name)
			if quantile != "" {
				set.Set("quantile", quantile)
			}
			out = append(out, BaselineValue{set.Labels(), v})
		}
		add(baselineHoursMetric, "", float64(l.hours))
		add(baselineAgeMetric, "", max(0, now.Sub(l.last).Seconds()))
		if l.hours < MinBaselineHours {
			continue
		}
		add(baselineMetric, "0.5", l.usual.quantile(0.5))
		add(baselineMetric, "0.9", l.usual.quantile(0.9))
		add(baselineMetric, "0.99", l.usual.quantile(0.99))
	}
	return out
}

// BaselineValue is one sample of a baseline.
type BaselineValue struct {
	Labels labels.Labels
	Value  float64
}

func (k *Baselines) sortedKeys() []string {
	keys := make([]string, 0, len(k.known))
	for key := range k.known {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
