package rules

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	promstorage "github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"
)

// A quiet beat asks for little: a selector once, however many signatures read
// it, and no signature's inputs.
func TestQuietBeatReadsEachSelectorOnce(t *testing.T) {
	one := signature(t, "one", "title: One\nlayer: cause\nseverity: info\nneeds: [level, other]\nwhen: level > 10 and other > 10\nwhat: x\n")
	two := signature(t, "two", "title: Two\nlayer: cause\nseverity: info\nneeds: [level, other]\nwhen: (level) > 20\nwhat: x\n")
	src := &countingSource{Source: data(t, `level 1x60`, `other 1x60`)}
	e := NewEngine(packOf(one, two), src, time.Second)
	steps(t, e, 1, 10)
	if src.queriers != 10 {
		t.Errorf("%d questions in 10 beats, want one a beat", src.queriers)
	}
}

// lossySource fails or warns instead of giving samples.
type lossySource struct {
	*memSource
	fail error
	warn bool
}

func (s *lossySource) Querier(mint, maxt int64) (promstorage.Querier, error) {
	q, err := s.memSource.Querier(mint, maxt)
	return &lossyQuerier{q, s}, err
}

type lossyQuerier struct {
	promstorage.Querier
	source *lossySource
}

func (q *lossyQuerier) Select(ctx context.Context, sorted bool, h *promstorage.SelectHints, ms ...*labels.Matcher) promstorage.SeriesSet {
	if q.source.fail != nil {
		return promstorage.ErrSeriesSet(q.source.fail)
	}
	if q.source.warn {
		return &warningSet{annotations.New().Add(errors.New("part of it is missing"))}
	}
	return promstorage.EmptySeriesSet()
}

// warningSet is a series set without series that warns.
type warningSet struct{ annotations.Annotations }

func (s *warningSet) Next() bool                        { return false }
func (s *warningSet) At() promstorage.Series            { return nil }
func (s *warningSet) Err() error                        { return nil }
func (s *warningSet) Warnings() annotations.Annotations { return s.Annotations }

// What cannot be read, or not wholly, proves nothing.
func TestNothingIsProvenFromAnIncompleteRead(t *testing.T) {
	for _, c := range []struct {
		name string
		src  *lossySource
		want bounds
	}{
		{"complete", &lossySource{}, nothing()},
		{"failed", &lossySource{fail: errors.New("broken")}, anything()},
		{"incomplete", &lossySource{warn: true}, anything()},
	} {
		c.src.memSource = &memSource{}
		p := newProver(NewQuery(c.src, time.Second))
		p.begin(second(10).UnixMilli())
		if got := p.bounds(t.Context(), "level"); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
