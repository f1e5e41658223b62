package host

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"stallmark/collectors"
	"stallmark/storage/model"
)

var update = flag.Bool("update", false, "write the golden files anew")

// epoch is when the trees of the tests are read.
var epoch = time.Date(2026, 3, 1, 3, 12, 40, 0, time.UTC)

// tree parses a tree in the form of collectors.ParseMapRoot.
func tree(t testing.TB, text string) *collectors.MapRoot {
	t.Helper()
	r, err := collectors.ParseMapRoot(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// treeFile parses testdata/<name>.tree.
func treeFile(t testing.TB, name string) *collectors.MapRoot {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".tree"))
	if err != nil {
		t.Fatal(err)
	}
	return tree(t, string(text))
}

// with gives a copy of a tree in which some files have other contents; nil
// takes one away.
func with(r *collectors.MapRoot, files map[string][]byte) *collectors.MapRoot {
	c := &collectors.MapRoot{Files: maps.Clone(r.Files), Links: r.Links, Errs: r.Errs}
	for name, data := range files {
		if data == nil {
			delete(c.Files, name)
		} else {
			c.Files[name] = data
		}
	}
	return c
}

// sink keeps everything as text.
type sink struct {
	samples  map[string]float64 // of the last beat, by series as text
	stale    []string
	facts    map[string]string
	events   []model.Event
	coverage map[string]model.Coverage
}

func newSink() *sink {
	return &sink{facts: map[string]string{}, coverage: map[string]model.Coverage{}}
}

func (s *sink) Append(b model.Batch) {
	s.samples, s.stale = map[string]float64{}, nil
	for _, sample := range b.Samples {
		text := seriesText(sample.Series)
		if model.IsStale(sample.Value) {
			s.stale = append(s.stale, text)
			continue
		}
		if _, twice := s.samples[text]; twice {
			panic("two samples in one beat: " + text)
		}
		s.samples[text] = sample.Value
	}
	slices.Sort(s.stale)
}

func (s *sink) Fact(f model.Fact)   { s.facts[f.Key] = f.Value }
func (s *sink) Event(e model.Event) { s.events = append(s.events, e) }
func (s *sink) Coverage(all []model.Coverage) {
	for _, c := range all {
		s.coverage[c.Source] = c
	}
}

// texts gives the events of a kind and forgets all.
func (s *sink) texts(kind model.EventKind) []string {
	var all []string
	for _, e := range s.events {
		if e.Kind == kind {
			all = append(all, e.Text)
		}
	}
	s.events = nil
	slices.Sort(all)
	return all
}

// seriesText writes a series as Prometheus does.
func seriesText(s *model.Series) string {
	if len(s.Labels) == 0 {
		return s.Name
	}
	var labels []string
	for _, l := range s.Labels {
		labels = append(labels, l.Name+"="+strconv.Quote(l.Value))
	}
	return s.Name + "{" + strings.Join(labels, ",") + "}"
}

// reader samples trees one after the other.
type reader struct {
	*sink
	sampler *collectors.Sampler
	at      time.Time
}

func newReader(t testing.TB, sources ...collectors.Source) *reader {
	t.Helper()
	r := &reader{sink: newSink(), at: epoch}
	s, err := collectors.New(collectors.Config{
		Sources: sources, Sink: r.sink, Interval: time.Second, Now: func() time.Time { return r.at },
	})
	if err != nil {
		t.Fatal(err)
	}
	r.sampler = s
	return r
}

// read does one beat on a tree; beats are one second apart.
func (r *reader) read(root collectors.Root) {
	r.sampler.SetRoot(root)
	r.sampler.Collect(context.Background(), r.at)
	r.at = r.at.Add(time.Second)
}

// want compares some samples of the last beat.
func (r *reader) want(t *testing.T, want map[string]float64) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got, ok := r.samples[name]; !ok || got != want[name] {
			t.Errorf("%s = %v (there: %v); want %v", name, got, ok, want[name])
		}
	}
}

// wantNone checks that no series of the last beat has a prefix.
func (r *reader) wantNone(t *testing.T, prefixes ...string) {
	t.Helper()
	for name, v := range r.samples {
		for _, p := range prefixes {
			if strings.HasPrefix(name, p) {
				t.Errorf("%s = %v; want no such series", name, v)
			}
		}
	}
}

// wantState compares the coverage of a source: its state, and that detail and
// mend contain some texts.
func (r *reader) wantState(t *testing.T, source string, state model.SourceState, texts ...string) {
	t.Helper()
	c := r.coverage[source]
	if c.State != state {
		t.Errorf("%s is %s (%s); want %s", source, c.State, c.Detail, state)
	}
	for _, text := range texts {
		if !strings.Contains(c.Detail+" | "+c.Mend, text) {
			t.Errorf("%s: %q, mend %q; want %q in it", source, c.Detail, c.Mend, text)
		}
	}
}

// dump writes all that a reading gave, sorted: the form of the golden files.
func (r *reader) dump() []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, "# series")
	for _, name := range slices.Sorted(maps.Keys(r.samples)) {
		if !strings.HasPrefix(name, "stallmark_source_duration_seconds") {
			fmt.Fprintf(&b, "%s %s\n", name, strconv.FormatFloat(r.samples[name], 'f', -1, 64))
		}
	}
	fmt.Fprintln(&b, "# facts")
	for _, key := range slices.Sorted(maps.Keys(r.facts)) {
		fmt.Fprintf(&b, "%s = %q\n", key, r.facts[key])
	}
	fmt.Fprintln(&b, "# coverage")
	all := slices.SortedFunc(maps.Values(r.coverage), func(a, b model.Coverage) int { return cmp.Compare(a.Source, b.Source) })
	for _, c := range all {
		fmt.Fprintf(&b, "%s %s; %s; %s\n", c.Source, c.State, c.Detail, c.Mend)
	}
	return b.Bytes()
}
