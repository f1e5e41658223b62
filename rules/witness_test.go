package rules

import (
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
)

func TestMeanWaiting(t *testing.T) {
	got, ok := MeanWaiting(waitExpr([]string{"reclaim", "compaction"}))
	if want := `sum by (process, pid) (rate(stallmark_wait_seconds_total{wait=~"reclaim|compaction"}[3s]))`; !ok || got != want {
		t.Errorf("got %s, %v", got, ok)
	}
	if _, err := parser.NewParser(parser.Options{}).ParseExpr(got); err != nil {
		t.Error(err)
	}
	if got, ok := MeanWaiting("sum(rate(node_vmstat_pswpin[5s]))"); ok {
		t.Errorf("of another expression: %s", got)
	}
}

func TestSide(t *testing.T) {
	for v, want := range map[float64]string{1: "under the threshold of", 2: "at the threshold of", 3: "over the threshold of"} {
		if got := Side(v, 2); got != want {
			t.Errorf("%v beside 2: %s", v, got)
		}
	}
}
