package storage

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	promstorage "github.com/prometheus/prometheus/storage"

	"stallmark/storage/model"
)

// sink is collectors.Sink, which storage does not import.
type sink interface {
	Append(model.Batch)
	Fact(model.Fact)
	Event(model.Event)
	Coverage([]model.Coverage)
}

var (
	_ sink                  = (*Store)(nil)
	_ promstorage.Queryable = (*Store)(nil)
)

func TestPromQLOnMemory(t *testing.T) {
	s := NewMemory(Options{Now: time.Now})
	a := model.NewSeries("x_total", "device", "a")
	b := model.NewSeries("x_total", "device", "b")
	for i := range int64(200) {
		s.Append(model.Batch{At: i * 1000, Samples: []model.Sample{{Series: a, Value: float64(i)}, {Series: b, Value: float64(2 * i)}}})
	}
	eng := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute, LookbackDelta: 3 * time.Second})
	q, err := eng.NewInstantQuery(context.Background(), s, nil, "sum by (device) (rate(x_total[60s]))", time.UnixMilli(199_000))
	if err != nil {
		t.Fatal(err)
	}
	res := q.Exec(context.Background())
	v, err := res.Vector()
	if err != nil {
		t.Fatal(err)
	}
	if len(v) != 2 {
		t.Fatalf("got %v, want two series", v)
	}
	for _, s := range v {
		want := map[string]float64{"a": 1, "b": 2}[s.Metric.Get("device")]
		if d := s.F - want; d > 1e-9 || d < -1e-9 {
			t.Errorf("rate of %v = %v, want %v", s.Metric, s.F, want)
		}
	}
	_ = labels.EmptyLabels()
}
