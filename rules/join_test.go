package rules

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql"

	"stallmark/storage/model"
)

// joined is the series of a test of a signature, going on to the end, and besides
// them a JVM and its broker: quiet but for one stall of the given seconds that ends
// at the beat. What logs say comes one beat later.
func joined(t *testing.T, c *TestCase, ends, took int) *memSource {
	t.Helper()
	src, last, err := c.source()
	if err != nil {
		t.Fatal(err)
	}
	end := max(last, ends+6)
	level := func(name string, before, after float64) {
		ls, _, err := newParser().ParseSeriesDesc(name + " 0")
		if err != nil {
			t.Fatal(err)
		}
		s := &memSeries{labels: ls}
		for i := range end {
			v := before
			if i > ends {
				v = after
			}
			s.points = append(s.points, promql.FPoint{T: second(i).UnixMilli(), F: v})
		}
		src.add(s)
	}
	const own = `process="broker",pid="7"`
	for _, class := range []string{"work", "blocked", "sys-heavy", "unknown"} {
		level(fmt.Sprintf(`stallmark_gc_pause_class_seconds_total{%s,class=%q}`, own, class), 0, 0)
	}
	level(`stallmark_gc_pause_class_seconds_total{`+own+`,class="safepoint"}`, 0, 0.004) // the collection itself was short
	level(`stallmark_safepoint_reaching_seconds_total{`+own+`}`, 0, float64(took)-0.01)
	level(`stallmark_safepoint_seconds_sum{`+own+`,gc="yes"}`, 0, float64(took))
	level(`stallmark_log_matches_total{`+own+`,pattern="rocketmq-put-in-lock"}`, 0, 0)
	level(`stallmark_log_matches_total{`+own+`,pattern="rocketmq-put-in-lock",source="/logs/store.log"}`, 0, 40)
	src.events = append(src.events,
		model.Event{
			Kind: model.EventLog, From: second(ends - took), To: second(ends), Count: 40, Text: "[NOTIFYME]putMessage in lock cost",
			Attrs: map[string]string{
				"pattern": "rocketmq-put-in-lock", "source": "/logs/store.log", "process": "broker", "pid": "7",
				"seconds": fmt.Sprint(took), "topic": "orders", "thread": "SendMessageThread_1",
			},
		},
		model.Event{
			Kind: model.EventPause, From: second(ends - took), To: second(ends), Text: "pause",
			Attrs: map[string]string{"what": "safepoint", "class": "safepoint", "process": "broker", "pid": "7", "log": "/logs/gc.log"},
		})
	return src
}

// firstFiring is the beat at which a test's signature fires, and its finding.
func firstFiring(t *testing.T, s *Signature, c *TestCase) (int, model.Finding, bool) {
	t.Helper()
	src, last, err := c.source()
	if err != nil {
		t.Fatal(err)
	}
	e := NewEngine(packOf(s), src, time.Second)
	for i, fs := range steps(t, e, 0, last-1) {
		if len(fs) > 0 {
			return i, fs[0], true
		}
	}
	return 0, model.Finding{}, false
}

// A thread that the kernel holds inside an append cannot reach a safepoint, so the
// whole JVM stops. Whatever cause the kernel shows in the same seconds is the root
// then, the delay a mechanism under it, and nobody speaks of garbage collection.
func TestSafepointDelayWithABlockedAppendIsTheKernels(t *testing.T) {
	pack := loadBuiltIn(t)
	var seen []string
	for _, s := range pack.Signatures {
		if s.Layer != model.LayerCause || !slices.Contains(s.Explains, "safepoint-delay") {
			continue
		}
		i := slices.IndexFunc(s.Tests, func(c TestCase) bool { return c.Expect == ExpectFiring && c.Interval == time.Second })
		at, _, fires := firstFiring(t, s, &s.Tests[i])
		if !fires {
			continue
		}
		seen = append(seen, s.ID)
		t.Run(s.ID, func(t *testing.T) {
			t.Parallel()
			src := joined(t, &s.Tests[i], at, 3)
			e := NewEngine(packOf(append(named(pack, "gc-stop-the-world", "gc-io-stall", "gc-memory-stall", "allocation-stall",
				"safepoint-delay", "rocketmq-append-stall"), s)...), src, time.Second)
			findings := latest(steps(t, e, 0, at+5))
			names := map[string]model.Finding{}
			for _, f := range findings {
				names[f.Signature] = f
			}
			for _, id := range []string{"gc-stop-the-world", "gc-io-stall", "gc-memory-stall"} {
				if f, ok := names[id]; ok {
					t.Errorf("%s is named: %+v", id, f.Evidence)
				}
			}
			delay, stuck := names["safepoint-delay"], names["rocketmq-append-stall"]
			if delay.ID == "" || stuck.ID == "" || names[s.ID].ID == "" {
				t.Fatalf("found %v", keysOf(names))
			}
			if got := since(stuck); got != at-3 {
				t.Errorf("the append stall began at %d s, want %d: its line has a duration", got, at-3)
			}
			for _, in := range Incidents(findings) {
				if !slices.Contains(in.Findings, delay.ID) {
					continue
				}
				if in.Root != names[s.ID].ID {
					t.Errorf("the root is %s", in.Root)
				}
				if !slices.Contains(in.Findings, stuck.ID) || !slices.Contains(in.Findings, names[s.ID].ID) {
					t.Errorf("append stall, delay and %s are not one incident", s.ID)
				}
			}
		})
	}
	for _, id := range []string{"dirty-throttling", "direct-reclaim", "writeback-churn", "mmap-fault-stall", "memcg-reclaim", "catch-up-cold-reads"} {
		if !slices.Contains(seen, id) {
			t.Errorf("%s was not tried, only %v", id, seen)
		}
	}
}

func keysOf(m map[string]model.Finding) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func named(pack *Pack, ids ...string) (out []*Signature) {
	for _, id := range ids {
		out = append(out, pack.Signature(id))
	}
	return out
}

// What a log tells is in the evidence: how many lines, the longest, and of whom;
// lines that come late are taken in, those of others are not.
func TestTellings(t *testing.T) {
	s := signature(t, "x", strings.Join([]string{
		"title: t", "layer: symptom", "severity: warning", "needs: ['stallmark_log_matches_total{pattern=\"p\"}']",
		"when: sum by (source) (rate(stallmark_log_matches_total{pattern=\"p\"}[3s])) > 0", "keep_firing_for: 10s", "what: w",
		"evidence: [{title: lines, role: witness, lines: [p]}]", "",
	}, "\n"))
	src := data(t, `stallmark_log_matches_total{pattern="p",source="/a"} 0x10 5x20`)
	line := func(from, to, count int, topic, source string, seconds string) model.Event {
		return model.Event{Kind: model.EventLog, From: second(from), To: second(to), Count: count, Text: topic + seconds, Attrs: map[string]string{
			"pattern": "p", "source": source, "topic": topic, "seconds": seconds, "offset": topic, "thread": "Send_" + fmt.Sprint(from),
		}}
	}
	src.events = []model.Event{
		line(6, 10, 3, "orders", "/a", "4"), line(8, 10, 0, "bill\x1b[2Jing", "/a", "2.5"),
		line(0, 10, 9, "other", "/b", "10"), line(1, 3, 9, "earlier", "/a", "2"),
	}
	e := NewEngine(packOf(s), src, time.Second)
	steps(t, e, 0, 13)
	src.events = append(src.events, line(9, 12, 2, "late", "/a", "3"))
	f := latest(steps(t, e, 14, 18))[0]
	if since(f) != 6 || f.Told == nil || !f.Told.Equal(second(10)) {
		t.Errorf("began at %d s, told %v", since(f), f.Told)
	}
	if want := "6 lines, the longest 4 s; topic bill [2Jing, late, orders; thread Send_*"; f.Evidence[0].Detail != want || *f.Evidence[0].Value != 6 {
		t.Errorf("%v, %q, want %q", *f.Evidence[0].Value, f.Evidence[0].Detail, want)
	}
}

// What is said once in a while counts from before the finding too, and does not move its beginning.
func TestTellingsFromBefore(t *testing.T) {
	s := signature(t, "x", strings.Join([]string{
		"title: t", "layer: symptom", "severity: warning", "needs: [busy]", "when: busy > 0", "what: w",
		"evidence: [{title: lines, role: context, expr: busy, lines: [p], before: 5m}]", "",
	}, "\n"))
	src := data(t, `busy 0x600 1x20`)
	line := func(at int, group string) model.Event {
		return model.Event{Kind: model.EventLog, From: second(at), To: second(at), Text: group, Attrs: map[string]string{"pattern": "p", "group": group}}
	}
	src.events = []model.Event{line(290, "long ago"), line(310, "billing"), line(605, "orders")}
	f := latest(steps(t, NewEngine(packOf(s), src, time.Second), 590, 615))[0]
	if want := "2 lines; group billing, orders"; since(f) != 601 || f.Told != nil || f.Evidence[0].Detail != want {
		t.Errorf("began at %d s, told %v: %q, want %q", since(f), f.Told, f.Evidence[0].Detail, want)
	}
}

// What is said soon after the end amends the finding once, and nothing but its evidence; what is said later does not.
func TestTellingsFromAfter(t *testing.T) {
	s := signature(t, "x", strings.Join([]string{
		"title: t", "layer: symptom", "severity: warning", "needs: [busy]", "when: busy > 0", "what: w",
		"evidence: [{title: lines, role: context, expr: busy, lines: [p], after: 1m}, {title: others, role: context, expr: busy, lines: [p]}, " +
			"{title: counted, role: context, lines: [p], after: 1m}]", "",
	}, "\n"))
	src := data(t, `busy 0x10 1x10 0x120`)
	line := func(at int, group string) model.Event {
		return model.Event{Kind: model.EventLog, From: second(at), To: second(at), Text: group, Attrs: map[string]string{"pattern": "p", "group": group}}
	}
	e := NewEngine(packOf(s), src, time.Second)
	old := latest(steps(t, e, 5, 30))[0]
	if old.State != model.StateResolved || old.Evidence[0].Detail != "" {
		t.Fatalf("%+v", old)
	}
	src.events = []model.Event{line(32, "billing"), line(90, "orders")}
	amended := slices.Concat(steps(t, e, 31, 130)...)
	if len(amended) != 1 {
		t.Fatalf("amended %d times", len(amended))
	}
	f := amended[0]
	if want := "1 line; group billing"; f.Evidence[0].Detail != want || f.Evidence[1].Detail != "" {
		t.Errorf("%q and %q, want %q and nothing", f.Evidence[0].Detail, f.Evidence[1].Detail, want)
	}
	if c := f.Evidence[2]; c.State != model.EvidenceShown || c.Value == nil || *c.Value != 1 || c.Detail != "1 line; group billing" {
		t.Errorf("counted without a series of its own: %+v", c)
	}
	f.Evidence = old.Evidence
	if !reflect.DeepEqual(f, old) || len(e.ended) > 0 {
		t.Errorf("more than the evidence was amended, or it is still followed (%d): %+v", len(e.ended), f)
	}
}

// A finding does not begin before the end of the one before it.
func TestTellingsDoNotOverlap(t *testing.T) {
	floor := second(20)
	tr := &tracked{started: second(30), floor: floor, told: tellings{began: second(5)}}
	if got := tr.began(); !got.Equal(floor) {
		t.Errorf("began %v", got)
	}
	tr.told.began = second(40)
	if got := tr.began(); !got.Equal(second(30)) {
		t.Errorf("began %v", got)
	}
}

// A cause that began within what a line tells is its root, and one that began
// after it is not. Symptoms are never the root beside a cause.
func TestToldIsHowLateACauseMayBegin(t *testing.T) {
	told := second(40)
	symptom := model.Finding{ID: "s", Signature: "s", Layer: model.LayerSymptom, Started: second(10), Told: &told, Explains: []string{"other"}}
	for began, root := range map[int]string{0: "c", 12: "c", 35: "c", 60: "s"} {
		cause := model.Finding{ID: "c", Signature: "c", Layer: model.LayerCause, Started: second(began), Explains: []string{"s"}}
		ins := Incidents([]model.Finding{symptom, cause})
		if one := len(ins) == 1; one != (root == "c") || one && ins[0].Root != "c" {
			t.Errorf("a cause at %d s: %+v", began, ins)
		}
	}
}

// Symptoms name the causes that explain them, and the other way round; they explain
// nothing but symptoms, so that none is ever above a cause.
func TestSymptomsAndCausesNameEachOther(t *testing.T) {
	pack := loadBuiltIn(t)
	for _, s := range pack.Signatures {
		for _, id := range s.Explains {
			if to := pack.Signature(id); to != nil && s.Layer == model.LayerSymptom && to.Layer != model.LayerSymptom {
				t.Errorf("%s explains the %s %s", s.ID, to.Layer, id)
			}
			if to := pack.Signature(id); to != nil && to.Layer == model.LayerSymptom && s.Layer == model.LayerCause && !slices.Contains(to.Differential, s.ID) {
				t.Errorf("%s explains %s, whose differential does not name it", s.ID, id)
			}
		}
		if s.Layer != model.LayerSymptom {
			continue
		}
		for _, id := range s.Differential {
			if !slices.Contains(pack.Signature(id).Explains, s.ID) {
				t.Errorf("%s has %s in its differential, which does not explain it", s.ID, id)
			}
		}
		explained := slices.ContainsFunc(pack.Signatures, func(c *Signature) bool { return slices.Contains(c.Explains, s.ID) })
		if !explained && s.ID != "large-message" {
			t.Errorf("nothing explains %s", s.ID)
		}
	}
}
