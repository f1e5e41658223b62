package model

import (
	"math"
	"testing"
)

func TestNewSeriesSortsAndDropsEmptyLabels(t *testing.T) {
	a := NewSeries("node_disk_io_now", "device", "vda", "backing", "", "area", "x")
	b := NewSeries("node_disk_io_now", "area", "x", "device", "vda")
	if a.Key() != b.Key() {
		t.Errorf("keys %q and %q differ", a.Key(), b.Key())
	}
	if a.Get("device") != "vda" || a.Get("backing") != "" {
		t.Errorf("labels %v", a.Labels)
	}
}

func TestSeriesKeysDoNotCollide(t *testing.T) {
	pairs := [][]string{{"a", "b", "c", "d"}, {"a", "bc", "d", ""}, {"ab", "", "c", "d"}, {"a", "b"}}
	seen := map[string]bool{}
	for _, p := range pairs {
		k := NewSeries("m", p...).Key()
		if seen[k] {
			t.Errorf("%v has the key of another series", p)
		}
		seen[k] = true
	}
}

func TestStaleIsAnotherNaN(t *testing.T) {
	if !IsStale(Stale()) || IsStale(math.NaN()) || IsStale(0) {
		t.Error("the stale marker is not told from other values")
	}
}
