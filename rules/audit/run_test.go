package audit

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql"

	"stallmark/storage/model"
)

// TestHostileNames: names that a shell would act on never get into a command.
func TestHostileNames(t *testing.T) {
	text := func(s string) *string { return &s }
	one := 1.0
	f := fixture{
		Facts: map[string]*string{
			"block.x;reboot.scheduler": text("bfq"), "block.x;reboot.rotational": text("0"),
			"process.7.config": text("/etc/$(reboot)/broker.conf"), "process.7.config.warmMappedFileEnable": text("true"),
		},
		Series: map[string]*float64{
			`stallmark_disk_info{device="x;reboot",kind="disk"}`:                               &one,
			`stallmark_process_info{process="rocketmq-broker",pid="7",role="rocketmq-broker"}`: &one,
		},
	}
	for _, id := range []string{"io-scheduler", "rocketmq-warm-key"} {
		r := f.run(t, builtInPack(t).only(id))[0]
		if r.State != Advise && r.State != Warn || r.Advice != nil && strings.Contains(r.Advice.Command+r.Advice.Persist+r.Advice.Rollback, "reboot") {
			t.Errorf("%s is %s with advice %+v", id, r.State, r.Advice)
		}
	}
}

// TestMismatchIsUnknown: a value that the check did not expect is not judged.
func TestMismatchIsUnknown(t *testing.T) {
	odd := "lots"
	r := fixture{Facts: map[string]*string{"sysctl.vm.laptop_mode": &odd, "sysctl.vm.zone_reclaim_mode": &odd}}.run(t, builtInPack(t).only("min-free-kbytes"))
	if r[0].State != Absent {
		t.Errorf("%+v", r[0])
	}
	f := readCases(t).Base.with(fixture{Facts: map[string]*string{"sysctl.vm.min_free_kbytes": &odd}})
	r = f.run(t, builtInPack(t).only("min-free-kbytes"))
	if r[0].State != Unknown || !strings.Contains(r[0].Says, `Not judged: "lots" is not a number`) {
		t.Errorf("%+v", r[0])
	}
}

func TestOrder(t *testing.T) {
	file := readCases(t)
	always := "always"
	results := file.Base.with(fixture{Facts: map[string]*string{"thp.defrag": &always, "thp.enabled": &always}}).run(t, builtInPack(t))
	sorted := slices.IsSortedFunc(results, func(a, b Result) int {
		if a.Area != b.Area {
			return slices.Index(Areas(), a.Area) - slices.Index(Areas(), b.Area)
		}
		return slices.Index(States(), a.State) - slices.Index(States(), b.State)
	})
	if !sorted || results[0].ID != "thp-defrag" {
		t.Errorf("%+v first", results[0])
	}
}

// broken is a source and a query engine that fail.
type broken struct{ facts, coverage, query error }

func (b broken) FactsAt(context.Context, time.Time) (map[string]model.Fact, error) {
	return nil, b.facts
}

func (b broken) CoverageAt(context.Context, time.Time) ([]model.Coverage, error) {
	return nil, b.coverage
}

func (b broken) Instant(context.Context, string, time.Time) (promql.Vector, error) {
	return nil, b.query
}

func TestFailures(t *testing.T) {
	failure := errors.New("the store does not answer")
	for _, b := range []broken{{facts: failure}, {coverage: failure}, {query: failure}} {
		if _, err := builtInPack(t).Run(t.Context(), b, b, fixtureTime()); !errors.Is(err, failure) {
			t.Errorf("%+v: %v", b, err)
		}
	}
}

func TestReaches(t *testing.T) {
	for _, s := range States() {
		if got, want := s.Reaches(Advise), s == Warn || s == Advise; got != want {
			t.Errorf("%s reaches advise: %v", s, got)
		}
		if got, want := s.Reaches(Warn), s == Warn; got != want {
			t.Errorf("%s reaches warn: %v", s, got)
		}
	}
}
