package main

import (
	"context"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	promstorage "github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"stallmark/collectors"
	"stallmark/rules"
)

// slowView shows the rules a host that is sampled at an even pace: of each
// interval the first sample of a series. What a burst samples in between makes
// charts finer and names more witnesses, but it must not weigh more in a
// quantile or a sum over a window than the same time outside of the burst.
type slowView struct {
	rules.Source
	interval time.Duration
}

// slotOf is the number of the interval that a time falls in. Beats come on
// multiples of the interval, some a little early where the clock is being set.
func (v slowView) slotOf(ms int64) int64 {
	interval := v.interval.Milliseconds()
	ms += collectors.MinInterval.Milliseconds() / 2
	slot := ms / interval
	if ms < 0 && ms%interval != 0 {
		slot--
	}
	return slot
}

// Querier implements promstorage.Queryable. It begins an interval early, so
// that it is known which sample is the first of its interval; readers leave out
// what is before their window.
func (v slowView) Querier(mint, maxt int64) (promstorage.Querier, error) {
	q, err := v.Source.Querier(mint-v.interval.Milliseconds(), maxt)
	return slowQuerier{q, v}, err
}

type slowQuerier struct {
	promstorage.Querier
	view slowView
}

// Select implements promstorage.Querier.
func (q slowQuerier) Select(
	ctx context.Context, sorted bool, hints *promstorage.SelectHints, ms ...*labels.Matcher,
) promstorage.SeriesSet {
	if hints != nil {
		early := *hints
		early.Start -= q.view.interval.Milliseconds()
		hints = &early
	}
	return slowSet{q.Querier.Select(ctx, sorted, hints, ms...), q.view}
}

type slowSet struct {
	promstorage.SeriesSet
	view slowView
}

// At implements promstorage.SeriesSet.
func (s slowSet) At() promstorage.Series { return slowSeries{s.SeriesSet.At(), s.view} }

type slowSeries struct {
	promstorage.Series
	view slowView
}

// Iterator implements promstorage.Series.
func (s slowSeries) Iterator(again chunkenc.Iterator) chunkenc.Iterator {
	it, ok := again.(*slowIterator)
	if !ok {
		it = &slowIterator{}
	}
	*it = slowIterator{Iterator: s.Series.Iterator(it.Iterator), view: s.view}
	return it
}

// millis keeps vet from taking Seek for io.Seeker's.
type millis = int64

// slowIterator leaves out samples that are not the first of their interval.
// End markers stay, and what follows one.
type slowIterator struct {
	chunkenc.Iterator
	view  slowView
	some  bool  // it stands on a sample
	slot  int64 // of that sample
	ended bool  // it is an end marker
}

// Next implements chunkenc.Iterator.
func (it *slowIterator) Next() chunkenc.ValueType { return it.settle(it.Iterator.Next()) }

// Seek implements chunkenc.Iterator. From an interval before t on it goes sample
// by sample, so that it is known which are the first of their interval.
func (it *slowIterator) Seek(t millis) chunkenc.ValueType {
	if it.some && it.AtT() >= t {
		return chunkenc.ValFloat
	}
	near := t - it.view.interval.Milliseconds()
	var kind chunkenc.ValueType
	if it.some && it.AtT() >= near {
		kind = it.Next()
	} else {
		it.some = false
		kind = it.settle(it.Iterator.Seek(near))
	}
	for kind != chunkenc.ValNone && it.AtT() < t {
		kind = it.Next()
	}
	return kind
}

// settle goes on to the next sample that is given.
func (it *slowIterator) settle(kind chunkenc.ValueType) chunkenc.ValueType {
	for ; kind == chunkenc.ValFloat; kind = it.Iterator.Next() {
		t, v := it.At()
		slot, ends := it.view.slotOf(t), value.IsStaleNaN(v)
		if ends || !it.some || it.ended || slot != it.slot {
			it.some, it.slot, it.ended = true, slot, ends
			return kind
		}
	}
	return kind
}
