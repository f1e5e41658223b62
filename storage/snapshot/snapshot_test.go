package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"stallmark/storage/model"
)

var at = time.Date(2026, 12, 1, 3, 12, 41, 0, time.UTC)

// sample is a snapshot with one of everything.
func sample() *Snapshot {
	series := func(name string, first int64, values ...float64) Series {
		s := Series{Labels: []model.Label{{Name: "__name__", Value: name}, {Name: "device", Value: "sda"}}, V: values}
		for i := range values {
			s.T = append(s.T, first+int64(i)*1000)
		}
		return s
	}
	start := at.UnixMilli()
	return &Snapshot{
		Meta: Meta{
			Format: Format, Created: at.Add(time.Hour), By: "page", Title: "Writers are paused", From: at, To: at.Add(3 * time.Second),
			Interval: time.Second, Host: "broker-07", Version: "test", Rules: "abc",
		},
		Report: model.Report{
			Window: model.Window{From: at, To: at.Add(3 * time.Second)}, Findings: []model.Finding{},
			Incidents: []model.Incident{}, RuledOut: []model.RuledOut{{Signature: "disk-saturation", Why: "6 ms"}},
			Unknown: []model.Unknown{}, NotApplicable: []model.NotApplicable{}, Coverage: []model.Coverage{},
		},
		Events:     []model.Event{{From: at, To: at, Kind: model.EventLog, Source: "logs", Text: "<b>hello</b>"}},
		Facts:      []model.Fact{{At: at, Key: "sysctl.vm.dirty_ratio", Value: "20"}},
		Signatures: []Signature{{ID: "dirty-throttling", Title: "t", Layer: model.LayerCause, Severity: model.SeverityCritical}},
		Samples: []Series{
			series("a", start, 1, 2, 3), series("b", start+1000, 0.5, math.Inf(1)), series("c", start+500, model.Stale()),
		},
		Lines: []Line{{"rate(a[3s])", []Series{series("", start, 1, 1)}}, {"nothing", nil}, {"b", []Series{series("x", start, 4), series("y", start, 5)}}},
	}
}

func TestEncodeDecode(t *testing.T) {
	want := sample()
	id, data, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := want.Encode()
	if err != nil || again != id || len(id) != 64 {
		t.Errorf("id %s, then %s", id, again)
	}
	got, s, err := Decode(bytes.NewReader(data), DefaultLimits())
	if err != nil || got != id {
		t.Fatalf("id %s, want %s: %v", got, id, err)
	}
	if !math.IsNaN(s.Samples[2].V[0]) || !model.IsStale(s.Samples[2].V[0]) {
		t.Errorf("the end marker came back as %v", s.Samples[2].V)
	}
	s.Samples[2].V[0], want.Samples[2].V[0] = 0, 0 // NaN is not equal to itself
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got  %+v\nwant %+v", s, want)
	}
	want.Report.RuledOut[0].Why = "7 ms"
	if other, _, err := want.Encode(); err != nil || other == id {
		t.Errorf("another verdict has the same id: %v", err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	_, whole, err := sample().Encode()
	if err != nil {
		t.Fatal(err)
	}
	newer := sample()
	newer.Meta.Format = Format + 1
	_, newerData, err := newer.Encode()
	if err != nil {
		t.Fatal(err)
	}
	long := sample()
	long.Events[0].Text = strings.Repeat("x", 2<<20)
	_, bomb, err := long.Encode()
	if err != nil {
		t.Fatal(err)
	}
	small := DefaultLimits()
	small.Total = 1 << 20
	few := DefaultLimits()
	few.Series = 2
	tests := []struct {
		name   string
		data   []byte
		limits Limits
		want   error
	}{
		{"newer", newerData, DefaultLimits(), ErrNewer},
		{"bomb", bomb, small, ErrLimit},
		{"series", whole, few, ErrLimit},
		{"text", []byte("hello"), DefaultLimits(), ErrNot},
		{"cut", whole[:len(whole)/2], DefaultLimits(), ErrNot},
		{"empty", nil, DefaultLimits(), ErrNot},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, _, err := Decode(bytes.NewReader(tt.data), tt.limits); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// TestLongTables has more rows than fit into one block.
func TestLongTables(t *testing.T) {
	var s Series
	for i := range int64(150_000) {
		s.T, s.V = append(s.T, i*100), append(s.V, float64(i%97))
	}
	got := []Series{{}}
	if err := decodeTable(encodeTable([]Series{s}), got, 1_000_000); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got[0], s) {
		t.Error("not what was put in")
	}
}

func FuzzDecode(f *testing.F) {
	_, data, err := sample().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("hello"))
	f.Fuzz(func(t *testing.T, data []byte) {
		limits := Limits{Compressed: 1 << 20, Total: 4 << 20, Series: 1000, Events: 1000, Points: 1_000_000}
		id, s, err := Decode(bytes.NewReader(data), limits)
		if err == nil && (len(id) != 64 || s.Meta.Format < 1) {
			t.Fatalf("id %q of %+v", id, s.Meta)
		}
	})
}

// FuzzTable decodes blocks that anybody may have written.
func FuzzTable(f *testing.F) {
	f.Add(encodeTable(sample().Samples))
	f.Fuzz(func(t *testing.T, data []byte) {
		into := make([]Series, 5)
		_ = decodeTable(data, into, 1_000_000)
		for i, s := range into {
			for j := 1; j < len(s.T); j++ {
				if s.T[j] <= s.T[j-1] {
					t.Fatal(fmt.Sprint("series ", i, " steps back"))
				}
			}
		}
	})
}
