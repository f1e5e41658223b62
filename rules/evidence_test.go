package rules

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"stallmark/storage/model"
)

// only runs a signature over data and gives its one finding.
func only(t *testing.T, s *Signature, src *memSource, to int) model.Finding {
	t.Helper()
	fs := latest(steps(t, NewEngine(packOf(s), src, time.Second), 0, to))
	if len(fs) != 1 {
		t.Fatalf("got %d findings, want 1", len(fs))
	}
	return fs[0]
}

func num(p *float64) float64 {
	if p == nil {
		return -1
	}
	return *p
}

// What a finding shows is the fault, before, during and after it.
func TestEvidenceKeepsThePeak(t *testing.T) {
	for _, c := range []struct {
		name, rule, series string
		value, threshold   float64 // -1 is nil
		state              model.EvidenceState
	}{
		{"the largest, not the last", `{title: e, expr: e, threshold: 5, role: confirms}`, `e 0x9 7 9 8 7x7 0x20`, 9, 5, model.EvidenceHolds},
		{"the smallest where small is bad", `{title: e, expr: e, threshold: 5, op: "<", role: confirms}`, `e 9x9 4 2 3 8x7 0x20`, 2, 5, model.EvidenceHolds},
		{"never on that side", `{title: e, expr: e, threshold: 50, role: confirms}`, `e 0x9 7 9 8 7x7 0x20`, 9, 50, model.EvidenceFails},
		{"context has no threshold to meet", `{title: e, expr: e, role: context}`, `e 0x9 7 9 8 7x7 0x20`, 9, -1, model.EvidenceShown},
		{"not measured is not zero", `{title: e, expr: missing, threshold: 5, role: confirms}`, `e 0x30`, -1, -1, model.EvidenceUnmeasured},
		{"a threshold that is not measured", `{title: e, expr: e, threshold: missing, role: confirms}`, `e 0x9 7 9 8 7x7 0x20`, 9, -1, model.EvidenceUnmeasured},
		{"a threshold that moves: a beat in which it holds wins", `{title: e, expr: e, threshold: e_limit, role: confirms}`, `e 0x9 7 9 8 7x7 0x20|e_limit 10x10 10 6 20x30`, 8, 6, model.EvidenceHolds},
		{"NaN and infinity are no values", `{title: e, expr: 1 / (e - e), threshold: 5, role: confirms}`, `e 0x30`, -1, -1, model.EvidenceUnmeasured},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := signature(t, "too-high", level+"evidence:\n  - "+c.rule+"\n")
			src := data(t, append([]string{`level 0x9 20x9 0x20`}, strings.Split(c.series, "|")...)...)
			f := only(t, s, src, 30)
			if f.State != model.StateResolved {
				t.Fatalf("state %s, want resolved", f.State)
			}
			e := f.Evidence[0]
			if num(e.Value) != c.value || num(e.Threshold) != c.threshold || e.State != c.state {
				t.Errorf("got %v against %v: %s, want %v against %v: %s",
					num(e.Value), num(e.Threshold), e.State, c.value, c.threshold, c.state)
			}
			if e.State == model.EvidenceUnmeasured && e.Detail == "" {
				t.Error("unmeasured without a reason")
			}
			if _, err := json.Marshal(f); err != nil {
				t.Errorf("finding as JSON: %v", err)
			}
		})
	}
}

// The evidence is read from where the stall began, which is before it fired.
func TestEvidenceReachesBackToTheStart(t *testing.T) {
	s := signature(t, "too-high", strings.Replace(level, "when: level > 10", "when: min_over_time(level[5s]) > 10", 1)+`
extent: level > 10
evidence:
  - {title: e, expr: e, unit: count, threshold: 5, role: confirms}
`)
	f := only(t, s, data(t, `level 0x9 20x19`, `e 0x9 80 0x18`), 20)
	if since(f) != 10 || num(f.Evidence[0].Value) != 80 {
		t.Errorf("started %d with %v, want 10 with 80", since(f), num(f.Evidence[0].Value))
	}
}

// A value that is small because all is calm again proves nothing.
func TestLowEvidenceOfTheExtentOnly(t *testing.T) {
	text := strings.Replace(level, "when: level > 10", "when: max_over_time(level[10s]) > 10", 1)
	s := signature(t, "too-high", text+`
extent: level > 10
evidence:
  - {title: e, expr: e, op: "<", threshold: 5, role: confirms}
`)
	// The stall is one beat; the finding fires two beats later, in the calm.
	if f := only(t, s, data(t, `level 0x9 20 0x30`, `e 9x9 8 1x30`), 30); num(f.Evidence[0].Value) != 8 {
		t.Errorf("got %v, want the 8 of the stall", num(f.Evidence[0].Value))
	}
	// And the same when it has been firing for long.
	if f := only(t, s, data(t, `level 0x9 20x9 0x30`, `e 9x9 8x9 1x30`), 40); num(f.Evidence[0].Value) != 8 {
		t.Errorf("got %v, want the 8 of the stall", num(f.Evidence[0].Value))
	}
}

// What contradicts later does not take back what was proven.
func TestConfidenceIsTheBestReached(t *testing.T) {
	s := signature(t, "too-high", level+`
evidence:
  - {title: w, expr: w, role: witness}
  - {title: c, expr: c, threshold: 5, role: contradicts}
`)
	f := only(t, s, data(t, `level 0x9 20x19 0x9`, `w 0x9 1x30`, `c 0x19 9x20`), 35)
	if f.Confidence != model.Confirmed || f.Evidence[1].State != model.EvidenceHolds {
		t.Errorf("got %s with a contradiction that %s, want confirmed and holds", f.Confidence, f.Evidence[1].State)
	}
	f = only(t, s, data(t, `level 0x9 20x19 0x9`, `w 0x9 1x30`, `c 9x40`), 35)
	if f.Confidence != model.Likely {
		t.Errorf("got %s, want likely: it was contradicted all the time", f.Confidence)
	}
}

func TestEvidenceIsTheSubjectsOwn(t *testing.T) {
	s := signature(t, "too-high", level+`
evidence:
  - {title: own, expr: e, threshold: limit, role: confirms}
  - {title: host, expr: host, threshold: 1, role: confirms}
`)
	src := data(t,
		`level{device="a"} 20x20`, `level{device="b"} 0x20`,
		`e{device="a",cpu="0"} 3x20`, `e{device="a",cpu="1"} 4x20`, `e{device="b",cpu="0"} 90x20`,
		`limit{device="a"} 2x20`, `limit{device="b"} 1x20`, `host 7x20`,
	)
	f := only(t, s, src, 10)
	if e := f.Evidence[0]; num(e.Value) != 4 || num(e.Threshold) != 2 {
		t.Errorf("got %v against %v, want device a's highest, 4 against 2", num(e.Value), num(e.Threshold))
	}
	if e := f.Evidence[1]; num(e.Value) != 7 {
		t.Errorf("got %v, want the host's 7", num(e.Value))
	}
}

func TestUnmeasuredEvidenceSaysWhy(t *testing.T) {
	s := signature(t, "too-high", level+`
evidence:
  - {title: e, expr: 'rate(node_pressure_io_waiting_seconds_total[3s])', threshold: 5, role: confirms}
`)
	src := data(t, `level 20x20`)
	src.coverage = []model.Coverage{{
		Source: "pressure", State: model.SourceAbsent, Detail: "/proc/pressure is not there", Mend: "boot with psi=1",
		Provides: []string{"node_pressure_"},
	}}
	f := only(t, s, src, 10)
	want := "pressure is absent: /proc/pressure is not there (no node_pressure_io_waiting_seconds_total)"
	if got := f.Evidence[0].Detail; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

const witnessed = level + `
evidence:
  - {title: threads asleep, role: witness, wait: [dirty_throttle]}
  - {title: e, expr: e, threshold: 5, role: confirms}
`

func blockedEvent(at int, pid, tid, wait string) model.Event {
	return model.Event{
		From: second(at), To: second(at), Kind: model.EventBlocked,
		Attrs: map[string]string{
			"process": "broker", "pid": pid, "tid": tid, "thread": "flush-" + tid, "wait": wait, "function": "balance_dirty_pages",
		},
	}
}

func TestWitness(t *testing.T) {
	for _, c := range []struct {
		name       string
		series     string
		events     []model.Event
		state      model.EvidenceState
		confidence model.Confidence
		detail     string
	}{
		{"threads were not looked at", `e 9x30`, nil, model.EvidenceUnmeasured, model.Likely, ""},
		{
			"looked at, none asleep", `stallmark_blocked_threads{process="broker",pid="7",wait="dirty_throttle"} 0x30`, nil,
			model.EvidenceFails, model.Possible, "",
		},
		{
			"seen once, by number", `stallmark_blocked_threads{process="broker",pid="7",wait="dirty_throttle"} 0x12 2 0x30`, nil,
			model.EvidenceHolds, model.Confirmed, "",
		},
		{
			"seen, by name", `e 0x30`,
			[]model.Event{blockedEvent(12, "7", "70", "dirty_throttle"), blockedEvent(13, "7", "71", "dirty_throttle"), blockedEvent(14, "7", "70", "dirty_throttle")},
			model.EvidenceHolds, model.Confirmed,
			"2 threads in balance_dirty_pages: flush-* ×2 (broker)",
		},
		{
			"another wait, another process, another time", `e 9x30`,
			[]model.Event{blockedEvent(12, "7", "70", "reclaim"), blockedEvent(12, "8", "80", "dirty_throttle"), blockedEvent(3, "7", "70", "dirty_throttle")},
			model.EvidenceUnmeasured, model.Likely, "",
		},
		{
			"counted, and named a little before", `stallmark_blocked_threads{process="broker",pid="7",wait="dirty_throttle"} 0x9 2x30`,
			[]model.Event{blockedEvent(4, "7", "70", "dirty_throttle")},
			model.EvidenceHolds, model.Confirmed, "flush-70 (broker, thread 70) in balance_dirty_pages",
		},
		{
			"named before and anew", `stallmark_blocked_threads{process="broker",pid="7",wait="dirty_throttle"} 0x9 2x30`,
			[]model.Event{blockedEvent(4, "7", "70", "dirty_throttle"), blockedEvent(14, "7", "71", "dirty_throttle")},
			model.EvidenceHolds, model.Confirmed, "flush-71 (broker, thread 71) in balance_dirty_pages",
		},
		{"a host task", `stallmark_host_blocked_tasks{wait="dirty_throttle"} 0x12 1 0x30`, nil, model.EvidenceHolds, model.Confirmed, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := data(t, `level{pid="7"} 0x9 20x9 0x20`, c.series)
			src.events = c.events
			f := only(t, signature(t, "too-high", witnessed), src, 30)
			w := f.Evidence[0]
			if w.State != c.state || f.Confidence != c.confidence {
				t.Errorf("got %s, %s; want %s, %s", w.State, f.Confidence, c.state, c.confidence)
			}
			if c.detail != "" && w.Detail != c.detail {
				t.Errorf("got detail %q, want %q", w.Detail, c.detail)
			}
		})
	}
}

func TestWitnessNamesAreFew(t *testing.T) {
	src := data(t, `level{pid="7"} 20x30`)
	for i := range 40 {
		src.events = append(src.events, blockedEvent(5, "7", string(rune('a'+i%26))+string(rune('a'+i/26)), "dirty_throttle"))
	}
	f := only(t, signature(t, "too-high", witnessed), src, 20)
	if w := f.Evidence[0]; !strings.HasPrefix(w.Detail, "40 threads in balance_dirty_pages: flush-aa (broker), ") || !strings.HasSuffix(w.Detail, " and 35 more") || num(w.Value) != 40 {
		t.Errorf("got %q and %v, want five names and 35 more of 40", w.Detail, num(w.Value))
	}
}

// A thread is one witness however often it is told of, and by whom.
func TestWitnessIsAsSlowAsItsLongestWait(t *testing.T) {
	src := data(t, `level{pid="7"} 20x30`)
	for i, ms := range []string{"", "20", "180", "30"} {
		e := blockedEvent(5+3*i, "7", "70", "dirty_throttle")
		if ms != "" {
			e.Attrs["ms"] = ms
		}
		if i == 0 {
			delete(e.Attrs, "thread") // it had ended before its name was read
		}
		src.events = append(src.events, e)
	}
	f := only(t, signature(t, "too-high", witnessed), src, 20)
	if w := f.Evidence[0]; w.Detail != "broker (broker, thread 70) in balance_dirty_pages, up to 180 ms at a time" {
		t.Errorf("got %q", w.Detail)
	}
}

func TestWitnessNames(t *testing.T) {
	seen := func(all ...witness) witnesses {
		w := witnesses{seen: map[string]witness{}}
		for i, one := range all {
			one.first, one.tid = second(i), strconv.Itoa(70+i)
			w.seen[one.tid] = one
		}
		return w
	}
	in := func(process, name, function string) witness {
		return witness{process: process, pid: "7", name: name, function: function}
	}
	during := func(ms int, w witness) witness {
		w.longest = time.Duration(ms) * time.Millisecond
		return w
	}
	const balance, page = "balance_dirty_pages", "folio_wait_bit"
	for _, c := range []struct {
		seen witnesses
		want string
	}{
		{seen(in("broker", "flush-1", balance)), "flush-1 (broker, thread 70) in balance_dirty_pages"},
		{seen(in("broker", "flush", "")), "flush (broker, thread 70)"},
		{
			seen(in("stallmark", "stallmark", balance), in("writer", "writer", balance), in("map-writer", "map-writer", balance), in("writer", "writer", balance), in("broker", "Send_1", balance), in("broker", "Send_12", balance)),
			"5 threads in balance_dirty_pages: writer ×2, map-writer, Send_* ×2 (broker); also stallmark itself",
		},
		{seen(in("broker", "a", balance), in("broker", "b", page)), "a (broker, thread 70) in balance_dirty_pages; b (broker, thread 71) in folio_wait_bit"},
		{seen(in("stallmark", "stallmark", page)), "stallmark (stallmark, thread 70) in folio_wait_bit"},
		{seen(during(214, in("broker", "flush-1", balance))), "flush-1 (broker, thread 70) in balance_dirty_pages, up to 214 ms at a time"},
		{
			seen(in("w", "w", balance), during(40, in("w", "w", balance)), during(190, in("w", "w", balance)), in("broker", "b", page)),
			"3 threads in balance_dirty_pages, up to 190 ms at a time: w ×3; b (broker, thread 73) in folio_wait_bit",
		},
		{seen(in("x", "77", balance), in("x", "78", balance)), "2 threads in balance_dirty_pages: 77 (x), 78 (x)"},
	} {
		if got := c.seen.names(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestConfidence(t *testing.T) {
	ev := func(role model.Role, state model.EvidenceState) model.Evidence {
		return model.Evidence{Role: role, State: state}
	}
	const (
		holds, fails, unmeasured = model.EvidenceHolds, model.EvidenceFails, model.EvidenceUnmeasured
		witness, confirms        = model.RoleWitness, model.RoleConfirms
		contradicts              = model.RoleContradicts
	)
	for _, c := range []struct {
		name string
		ev   []model.Evidence
		want model.Confidence
	}{
		{"no evidence", nil, model.Possible},
		{"confirmations unmeasured", []model.Evidence{ev(confirms, unmeasured)}, model.Possible},
		{"all measurable confirmations hold", []model.Evidence{ev(confirms, holds), ev(confirms, unmeasured)}, model.Likely},
		{"one confirmation fails", []model.Evidence{ev(confirms, holds), ev(confirms, fails)}, model.Possible},
		{"witness", []model.Evidence{ev(witness, holds), ev(confirms, fails)}, model.Confirmed},
		{"witness fails", []model.Evidence{ev(witness, fails), ev(confirms, holds)}, model.Likely},
		{"contradicted witness", []model.Evidence{ev(witness, holds), ev(contradicts, holds)}, model.Likely},
		{"contradicted", []model.Evidence{ev(confirms, holds), ev(contradicts, holds)}, model.Possible},
		{"contradicted twice", []model.Evidence{ev(contradicts, holds), ev(contradicts, holds)}, model.Possible},
		{"contradiction fails", []model.Evidence{ev(confirms, holds), ev(contradicts, fails)}, model.Likely},
		{"context says nothing", []model.Evidence{ev(model.RoleContext, model.EvidenceShown)}, model.Possible},
	} {
		if got := ConfidenceOf(c.ev); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// A reading is skipped only if it would change nothing.
func TestPeakSettled(t *testing.T) {
	number := func(v float64) Threshold { return Threshold{Number: &v} }
	moving := Threshold{Expr: "other"}
	value := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		name  string
		op    Op
		limit Threshold
		value *float64
		holds bool
		now   bounds
		want  bool
	}{
		{"no value yet", Above, number(5), nil, false, exactly(1), false},
		{"still no value", Above, number(5), nil, false, nothing(), true},
		{"less than known", Above, number(5), value(9), true, exactly(8), true},
		{"more than known", Above, number(5), value(9), true, bounds{2, 8, 10}, false},
		{"more than known, context", Above, Threshold{}, value(9), false, bounds{2, 8, 10}, false},
		{"less than known, context", Above, Threshold{}, value(9), false, exactly(8), true},
		{"a small one says more", Below, number(5), value(3), true, bounds{2, 2, 9}, false},
		{"a large one says less", Below, number(5), value(3), true, bounds{2, 4, 9}, true},
		{"the threshold moves", Above, moving, value(9), false, exactly(8), false},
		{"the threshold moved before it held", Above, moving, value(9), true, exactly(8), true},
		{"the threshold is another since a restart", Above, number(5), value(9), false, exactly(8), false},
		{"the same for a small one", Below, number(5), value(3), false, bounds{2, 4, 9}, false},
		{"nothing now", Above, moving, value(9), false, nothing(), true},
	} {
		p := peak{rule: &EvidenceRule{Op: c.op, Threshold: c.limit}, value: c.value, holds: c.holds}
		if got := p.settled(c.now); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
