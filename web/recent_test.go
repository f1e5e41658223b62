package web

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
)

// TestRecentIsTheWholeRange compares a window that moves on, point by point,
// with one asked for at once: series come and go, the last samples come late.
func TestRecentIsTheWholeRange(t *testing.T) {
	var newest time.Time
	asked := 0
	ask := func(_ context.Context, _ string, from, to time.Time, step time.Duration) (promql.Matrix, error) {
		var out promql.Matrix
		for i := range 3 {
			s := promql.Series{Metric: labels.FromStrings("n", strconv.Itoa(i))}
			for at := from; !at.After(to); at = at.Add(step) {
				asked++
				sec := at.Unix() % 1000
				if at.After(newest) || i == 1 && sec > 60 || i == 2 && sec < 90 {
					continue
				}
				s.Floats = append(s.Floats, promql.FPoint{T: at.UnixMilli(), F: float64(sec)*10 + float64(i)})
			}
			if len(s.Floats) > 0 {
				out = append(out, s)
			}
		}
		return out, nil
	}
	var r recent
	begin := time.Unix(1_000_000, 0).UTC()
	var whole int
	for i := range 200 {
		from, to := begin.Add(time.Duration(max(0, i-100))*time.Second), begin.Add(time.Duration(30+i)*time.Second)
		newest = to.Add(-time.Duration(i%4) * time.Second) // up to three seconds late
		got, err := r.query(t.Context(), ask, "x", from, to, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		before := asked
		want, _ := ask(t.Context(), "x", from, to, time.Second)
		whole += asked - before
		asked = before
		if len(got) != len(want) {
			t.Fatalf("%d series at %d, want %d", len(got), i, len(want))
		}
		for _, w := range want {
			found := false
			for _, g := range got {
				if labels.Equal(g.Metric, w.Metric) {
					found = true
					samePoints(t, g.Floats, w.Floats)
				}
			}
			if !found {
				t.Fatalf("series %s is missing at %d", w.Metric, i)
			}
		}
		if i%2 == 0 { // what a caller does with the matrix harms nobody
			clear(got)
		}
	}
	if asked*3 > whole {
		t.Errorf("%d steps were evaluated where %d are needed without memory", asked, whole)
	}
}

func samePoints(t *testing.T, got, want []promql.FPoint) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d points, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("point %d is %v, want %v", i, got[i], want[i])
		}
	}
}

func TestRecentForgets(t *testing.T) {
	var r recent
	at := time.Unix(1_000_000, 0)
	fail := errors.New("no")
	if _, err := r.query(t.Context(), func(context.Context, string, time.Time, time.Time, time.Duration) (promql.Matrix, error) {
		return nil, fail
	}, "bad", at, at, time.Second); !errors.Is(err, fail) || len(r.lines) != 0 {
		t.Errorf("an error is kept: %v, %d", err, len(r.lines))
	}
	none := func(context.Context, string, time.Time, time.Time, time.Duration) (promql.Matrix, error) {
		return nil, nil
	}
	for i := range 3 * maxRecent {
		if _, err := r.query(t.Context(), none, strconv.Itoa(i), at, at, time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.lines) > maxRecent {
		t.Errorf("%d lines are kept", len(r.lines))
	}
	later := at.Add(2 * recentFor)
	if _, err := r.query(t.Context(), none, "new", later, later, time.Second); err != nil || len(r.lines) != 1 {
		t.Errorf("%d lines are kept after a pause, %v", len(r.lines), err)
	}
}
