package storage

import (
	"strings"
	"testing"
	"time"

	"stallmark/storage/model"
)

// TestEventsAreBoundedByBytes puts more lines than are kept, which then begin later.
func TestEventsAreBoundedByBytes(t *testing.T) {
	const limit = 100_000
	l := eventLog{limit: limit}
	began := time.Unix(1_700_000_000, 0).UTC()
	for i := range 1000 {
		at := began.Add(time.Duration(i) * time.Second)
		l.put(model.Event{From: at, To: at, Text: "x", Attrs: map[string]string{"before": strings.Repeat("line\n", 200)}})
	}
	var sum int64
	for i := range l.events {
		sum += eventBytes(&l.events[i])
	}
	if sum != l.bytes || sum > limit || sum < limit/2 {
		t.Errorf("%d bytes, counted as %d; want at most %d", sum, l.bytes, limit)
	}
	if since := l.since(began); since.After(l.events[0].From) || !since.After(l.events[0].From.Add(-time.Second)) {
		t.Errorf("complete since %v, the first is of %v", since, l.events[0].From)
	}
	huge := began.Add(time.Hour)
	l.put(model.Event{From: huge, To: huge, Text: strings.Repeat("x", 2*limit)})
	if len(l.events) != 0 || l.bytes != 0 || !l.since(began).After(huge) {
		t.Errorf("%d events, %d bytes, complete since %v after one that is too large", len(l.events), l.bytes, l.since(began))
	}
}
