package audit

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"stallmark/rules"
	"stallmark/storage"
	"stallmark/storage/model"
)

// fixture is a host in a test file. A nil takes away what another fixture has.
type fixture struct {
	Facts  map[string]*string  `yaml:"facts"`
	Series map[string]*float64 `yaml:"series"`
	Unread map[string]string   `yaml:"unread"` // "state: detail" by source
}

// with is the fixture with another's changes.
func (f fixture) with(o fixture) fixture {
	sum := fixture{map[string]*string{}, map[string]*float64{}, o.Unread}
	maps.Copy(sum.Facts, f.Facts)
	maps.Copy(sum.Facts, o.Facts)
	maps.Copy(sum.Series, f.Series)
	maps.Copy(sum.Series, o.Series)
	return sum
}

const beat = time.Second

func fixtureTime() time.Time { return time.Date(2026, 3, 1, 3, 12, 41, 0, time.UTC) }

// store makes a store that has the fixture's facts, one sample of each of its
// series, and the coverage.
func (f fixture) store(tb testing.TB) *storage.Store {
	tb.Helper()
	at := fixtureTime()
	s := storage.NewMemory(storage.Options{Interval: beat, Now: func() time.Time { return at }})
	batch := model.Batch{At: at.UnixMilli()}
	for text, value := range f.Series {
		if value != nil {
			batch.Samples = append(batch.Samples, model.Sample{Series: seriesOf(tb, text), Value: *value})
		}
	}
	s.Append(batch)
	for key, value := range f.Facts {
		if value != nil {
			s.Fact(model.Fact{At: at, Key: key, Value: *value})
		}
	}
	s.Coverage(f.coverage(tb))
	return s
}

// seriesOf reads name{label="value"}.
func seriesOf(tb testing.TB, text string) *model.Series {
	tb.Helper()
	ls, err := parser.NewParser(parser.Options{}).ParseMetric(text)
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	var pairs []string
	ls.Range(func(l labels.Label) {
		if l.Name != metricName {
			pairs = append(pairs, l.Name, l.Value)
		}
	})
	return model.NewSeries(ls.Get(metricName), pairs...)
}

// coverage has every source that checks read from, ok unless the fixture says
// otherwise.
func (f fixture) coverage(tb testing.TB) []model.Coverage {
	tb.Helper()
	provides := map[string]string{
		"host":           "stallmark_host_memory_bytes stallmark_page_size_bytes",
		"vmstat":         "node_vmstat_ stallmark_dirty_",
		"meminfo":        "node_memory_",
		"swaps":          "stallmark_swap_",
		"zoneinfo":       "node_zoneinfo_",
		"settings":       "stallmark_setting",
		"disks":          "stallmark_disk_info",
		"brokers":        "stallmark_process_info",
		"process":        "stallmark_process_resident_bytes",
		"process-limits": "stallmark_process_mappings",
		"cgroup":         "container_",
	}
	for name := range f.Unread {
		if _, ok := provides[name]; !ok && name != "*" {
			tb.Fatalf("there is no source %q", name)
		}
	}
	var list []model.Coverage
	for name, prefixes := range provides {
		c := model.Coverage{Source: name, State: model.SourceOK, Provides: strings.Fields(prefixes)}
		if text := f.Unread[name] + f.Unread["*"]; text != "" {
			state, detail, _ := strings.Cut(text, ": ")
			c.State, c.Detail, c.Mend = model.SourceState(state), detail, "mend "+name
		}
		list = append(list, c)
	}
	return list
}

// run judges the fixture.
func (f fixture) run(tb testing.TB, p *Pack) []Result {
	tb.Helper()
	s := f.store(tb)
	results, err := p.Run(tb.Context(), s, rules.NewQuery(s, beat), fixtureTime())
	if err != nil {
		tb.Fatal(err)
	}
	return results
}
