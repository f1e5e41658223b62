package rules

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"stallmark/storage/model"
)

// f is a finding from one second to another (-1 is open) that explains others.
// The first letter of its name is its layer: c, m or s.
func f(name string, from, to int, explains ...string) model.Finding {
	layer := map[byte]model.Layer{'c': model.LayerCause, 'm': model.LayerMechanism, 's': model.LayerSymptom}[name[0]]
	out := model.Finding{
		ID: name, Signature: name, Layer: layer, Severity: model.SeverityCritical, Started: second(from), Explains: explains,
	}
	if to >= 0 {
		end := second(to)
		out.Ended = &end
	}
	return out
}

func show(ins []model.Incident) string {
	var parts []string
	for _, in := range ins {
		parts = append(parts, strings.Join(in.Findings, " "))
	}
	return strings.Join(parts, " | ")
}

func TestIncidents(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []model.Finding
		want string // findings of each incident, root first
	}{
		{"none", nil, ""},
		{"one", []model.Finding{f("c1", 0, 10)}, "c1"},
		{"a symptom alone", []model.Finding{f("s1", 0, 10)}, "s1"},
		{"cause and symptom", []model.Finding{f("s1", 2, 10), f("c1", 0, 10, "s1")}, "c1 s1"},
		{
			"cause, mechanism, symptom: the cause knows only the mechanism",
			[]model.Finding{f("c1", 0, 20, "m1"), f("m1", 3, 20, "s1"), f("s1", 6, 20)},
			"c1 m1 s1",
		},
		{"unrelated faults stay two", []model.Finding{f("c1", 0, 20, "s1"), f("c2", 5, 25, "s2")}, "c2 | c1"},
		{"related, but not at the same time", []model.Finding{f("c1", 0, 10, "s1"), f("s1", 30, 40)}, "s1 | c1"},
		{"within the slack", []model.Finding{f("c1", 0, 10, "s1"), f("s1", 15, 40)}, "c1 s1"},
		{"a cause that begins within the slack after its symptom", []model.Finding{f("s1", 0, 20), f("c1", 5, 20, "s1")}, "c1 s1"},
		{"a cause that begins after its symptom is not its root", []model.Finding{f("s1", 0, 40), f("c1", 20, 40, "s1")}, "c1 | s1"},
		{
			"two causes of one symptom are two incidents: it is the earlier one's",
			[]model.Finding{f("c2", 3, 30, "s1"), f("c1", 0, 30, "s1"), f("s1", 5, 30)},
			"c1 s1 | c2",
		},
		{
			"a cause that another cause explains is not the root, though it began earlier",
			[]model.Finding{f("c1", 0, 30, "s1"), f("c2", 3, 30, "c1", "s1"), f("s1", 5, 30)},
			"c2 c1 s1",
		},
		{
			"but not if that one began much later: then it is another incident",
			[]model.Finding{f("c1", 0, 30, "s1"), f("c2", 12, 30, "c1"), f("s1", 5, 30)},
			"c1 s1 | c2",
		},
		{
			"though a symptom could be both's",
			[]model.Finding{f("c1", 0, 30, "s1"), f("c2", 12, 30, "c1", "s1"), f("s1", 11, 30)},
			"c1 s1 | c2",
		},
		{
			"two causes that account for each other: the earlier one",
			[]model.Finding{f("c1", 2, 30, "c2", "s1"), f("c2", 0, 30, "c1", "s1"), f("s1", 5, 30)},
			"c2 c1 s1",
		},
		{
			"two causes that account for each other are one incident beside a third",
			[]model.Finding{f("c1", 0, 30, "c2", "s1"), f("c2", 1, 30, "c1", "s1"), f("c3", 2, 30, "s1"), f("s1", 5, 30)},
			"c1 c2 s1 | c3",
		},
		{
			"a mechanism that began after the symptom carries nothing on",
			[]model.Finding{
				f("c1", 0, 30, "m1"), f("m1", 20, 30, "s1", "s2"), f("c2", 2, 30, "s1", "s2"), f("s1", 5, 30), f("s2", 5, 30),
			},
			"c2 s1 s2 | c1 m1",
		},
		{
			"the slack does not add up along a chain",
			[]model.Finding{f("s1", 2, 30), f("c2", 5, 30, "s1"), f("m1", 6, 30, "s1"), f("c1", 10, 30, "m1")},
			"c2 s1 | c1 m1",
		},
		{
			"of causes that began together the one that accounts for more",
			[]model.Finding{f("c1", 0, 30, "s1"), f("c2", 2, 30, "s1", "s2", "s3"), f("s1", 4, 30), f("s2", 4, 30), f("s3", 4, 30)},
			"c2 s1 s2 s3 | c1",
		},
		{
			"a chain in time: each overlaps the next",
			[]model.Finding{f("c1", 0, 10, "m1"), f("m1", 8, 20, "s1"), f("s1", 18, 30)},
			"c1 m1 s1",
		},
		{"two subjects of one signature stay two", []model.Finding{f("c1", 0, 10), f("c2", 0, 10)}, "c1 | c2"},
		{"the open one comes first", []model.Finding{f("c1", 0, -1), f("c2", 50, 60)}, "c1 | c2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := show(Incidents(c.in)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestIncidentsBySeverity(t *testing.T) {
	warning := f("c1", 50, 60)
	warning.Severity = model.SeverityWarning
	if got := show(Incidents([]model.Finding{warning, f("c2", 0, 10)})); got != "c2 | c1" {
		t.Errorf("got %q, want the critical one first", got)
	}
}

func TestIncidentSpans(t *testing.T) {
	in := Incidents([]model.Finding{f("c1", 3, 10, "s1"), f("s1", 1, 20)})[0]
	if !in.Started.Equal(second(1)) || in.Ended == nil || !in.Ended.Equal(second(20)) {
		t.Errorf("got %v to %v, want 1 to 20", in.Started, in.Ended)
	}
	in = Incidents([]model.Finding{f("c1", 3, -1, "s1"), f("s1", 4, 20)})[0]
	if in.Ended != nil {
		t.Errorf("ended %v, but its root goes on", in.Ended)
	}
}

// The order in which findings come must not matter, nor are they changed.
func TestIncidentsAreDeterministic(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var fs []model.Finding
	for i := range 40 {
		name := fmt.Sprintf("%c%d", "cms"[i%3], i)
		fs = append(fs, f(name, rnd.IntN(60), 60+rnd.IntN(60), fmt.Sprintf("%c%d", "ms"[i%2], rnd.IntN(40)), fmt.Sprintf("c%d", rnd.IntN(40))))
	}
	want := show(Incidents(fs))
	for range 20 {
		rnd.Shuffle(len(fs), func(i, j int) { fs[i], fs[j] = fs[j], fs[i] })
		before := fs[0].ID
		if got := show(Incidents(fs)); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
		if fs[0].ID != before {
			t.Fatal("the caller's findings were reordered")
		}
	}
	if n := strings.Count(want, "|"); n == 0 || n > 38 {
		t.Errorf("%d incidents of 40: the test is too easy", n+1)
	}
}

// Every finding is in exactly one incident.
func TestIncidentsLoseNothing(t *testing.T) {
	fs := []model.Finding{f("c1", 0, 10, "m1"), f("m1", 2, 12), f("s1", 40, 50), f("c2", 41, -1, "s1"), f("s2", 3, 4)}
	seen := map[string]int{}
	for _, in := range Incidents(fs) {
		if in.Findings[0] != in.Root {
			t.Errorf("root %s is not the first of %v", in.Root, in.Findings)
		}
		for _, id := range in.Findings {
			seen[id]++
		}
	}
	for _, x := range fs {
		if seen[x.ID] != 1 {
			t.Errorf("%s is in %d incidents", x.ID, seen[x.ID])
		}
	}
}

func BenchmarkIncidents(b *testing.B) {
	var fs []model.Finding
	for i := range 500 {
		fs = append(fs, f(fmt.Sprintf("%c%d", "cms"[i%3], i), i, i+60, fmt.Sprintf("s%d", i+2), fmt.Sprintf("m%d", i+1)))
	}
	for b.Loop() {
		Incidents(fs)
	}
}

// A warning that goes on must not stand before the stall of a minute ago.
func TestIncidentsPutTheStallBeforeALastingWarning(t *testing.T) {
	began := time.Date(2026, 12, 1, 3, 0, 0, 0, time.UTC)
	over := began.Add(time.Minute)
	stall := model.Finding{
		ID: "stall", Signature: "dirty-throttling", Layer: model.LayerCause,
		Severity: model.SeverityCritical, Started: began, Ended: &over,
	}
	warning := model.Finding{
		ID: "warning", Signature: "cpu-saturation", Layer: model.LayerCause,
		Severity: model.SeverityWarning, State: model.StateFiring, Started: began.Add(-time.Minute),
	}
	got := Incidents([]model.Finding{warning, stall})
	if len(got) != 2 || got[0].Root != "stall" {
		t.Errorf("incidents %+v, want two, the stall first", got)
	}
}

// A cause by which the broker is known to suffer comes before one that began
// later and by which nothing does.
func TestIncidentsPutWhatIsFeltFirst(t *testing.T) {
	felt := []model.Finding{f("c1", 0, -1, "s1"), f("s1", 3, -1), f("c2", 20, -1)}
	if got := show(Incidents(felt)); got != "c1 s1 | c2" {
		t.Errorf("%q, want the one with the symptom first", got)
	}
}

// The worse cause takes the symptom, however long the lesser one has been there.
func TestAWarningGivesWay(t *testing.T) {
	warning := f("c1", 0, -1, "s1")
	warning.Severity = model.SeverityWarning
	if got := show(Incidents([]model.Finding{warning, f("c2", 100, -1, "s1"), f("s1", 102, -1)})); got != "c2 s1 | c1" {
		t.Errorf("%q, want the symptom with the critical cause", got)
	}
}

func TestAnInfoCauseGivesWay(t *testing.T) {
	quiet := f("c1", 0, -1, "s1")
	quiet.Severity = model.SeverityInfo
	if got := show(Incidents([]model.Finding{quiet, f("c2", 100, 130, "s1"), f("s1", 102, 130)})); got != "c2 s1 | c1" {
		t.Errorf("%q: what goes on all day does not take the symptom of the stall", got)
	}
	if got := show(Incidents([]model.Finding{quiet, f("s1", 102, 130)})); got != "c1 s1" {
		t.Errorf("%q: alone it is", got)
	}
}

// shifted moves a finding's beginning by milliseconds.
func shifted(in model.Finding, ms int) model.Finding {
	in.Started = in.Started.Add(time.Duration(ms) * time.Millisecond)
	return in
}

func TestIncidentsOfSeveralFaults(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []model.Finding
		want string
	}{
		{"three unrelated faults stay three", []model.Finding{f("c1", 0, 30, "s1"), f("c2", 1, 30, "s2"), f("c3", 2, 30, "s3"), f("s1", 3, 30), f("s3", 4, 30)}, "c3 s3 | c1 s1 | c2"},
		{"three causes of one symptom: the earliest", []model.Finding{f("c3", 4, 30, "s1"), f("c1", 0, 30, "s1"), f("c2", 2, 30, "s1"), f("s1", 6, 30)}, "c1 s1 | c3 | c2"},
		{"of three causes two are one fault", []model.Finding{f("c1", 0, 30, "c2", "s1"), f("c2", 1, 30, "s1"), f("c3", 1, 30, "s2"), f("s1", 3, 30), f("s2", 3, 30)}, "c3 s2 | c1 c2 s1"},
		{"a symptom by two causes over two mechanisms", []model.Finding{f("c1", 0, 30, "m1"), f("c2", 3, 30, "m2"), f("m1", 2, 30, "s1"), f("m2", 5, 30, "s1"), f("s1", 7, 30)}, "c1 m1 s1 | c2 m2"},
		{"a long chain of mechanisms", []model.Finding{f("m3", 6, 30, "s1"), f("m1", 2, 30, "m2"), f("s1", 8, 30), f("c1", 0, 30, "m1"), f("m2", 4, 30, "m3")}, "c1 m1 m2 m3 s1"},
		{"mechanisms in a ring", []model.Finding{f("c1", 0, 30, "m1"), f("m1", 1, 30, "m2"), f("m2", 2, 30, "m1", "s1"), f("s1", 3, 30)}, "c1 m1 m2 s1"},
		{"the cause had ended before the symptom began", []model.Finding{f("c1", 0, 10, "s1"), f("c2", 12, 30, "s1"), f("s1", 16, 30)}, "c2 s1 | c1"},
		{"but a mechanism carried it on", []model.Finding{f("c1", 0, 10, "m1"), f("m1", 5, 30, "s1"), f("s1", 25, 30)}, "c1 m1 s1"},
		{"a cause later than its symptom takes its mechanism along", []model.Finding{f("s1", 0, 40), f("m1", 18, 40, "s1"), f("c1", 20, 40, "m1", "s1")}, "c1 m1 | s1"},
		{"an hour of a slow broker does not hide the stall of now", []model.Finding{f("s1", 0, -1), f("c1", 3600, -1, "s1")}, "c1 | s1"},
		{"ties: all in one beat", []model.Finding{f("s1", 5, 30), f("m1", 5, 30, "s1"), f("c1", 5, 30, "m1")}, "c1 m1 s1"},
		{"ties: two causes of one beat are told apart by their names", []model.Finding{f("c2", 5, 30, "s1"), f("c1", 5, 30, "s1"), f("s1", 5, 30)}, "c1 s1 | c2"},
		{"the symptom was seen some beats before the cause", []model.Finding{f("s1", 5, 30), shifted(f("c1", 9, 30, "s1"), 999)}, "c1 s1"},
		{"just within the slack", []model.Finding{f("s1", 5, 30), f("c1", 10, 30, "s1")}, "c1 s1"},
		{"just outside", []model.Finding{f("s1", 5, 30), shifted(f("c1", 10, 30, "s1"), 1)}, "c1 | s1"},
		{"ended in the beat in which the other began", []model.Finding{f("c1", 0, 10, "s1"), f("s1", 10, 30)}, "c1 s1"},
		{"a symptom goes to the cause that lasts as long", []model.Finding{f("c1", 0, 12, "s1"), f("c2", 8, 30, "s1"), f("s1", 9, 30)}, "c2 s1 | c1"},
		{"one that goes on, to the cause that does", []model.Finding{f("c1", 0, 12, "s1"), f("c2", 8, -1, "s1"), f("s1", 9, -1)}, "c2 s1 | c1"},
		{"none lasts as long: the earlier one", []model.Finding{f("c1", 0, 12, "s1"), f("c2", 8, 20, "s1"), f("s1", 9, 40)}, "c1 s1 | c2"},
		{"one symptom each: two faults", []model.Finding{f("c1", 0, 60, "s1", "s2"), f("c2", 20, 60, "s1", "s2"), f("s1", 3, 60), f("s2", 22, 60)}, "c1 s1 s2 | c2"},
		{"a mechanism's symptom follows its cause", []model.Finding{f("c1", 0, 30, "m1"), f("m1", 8, 30, "s1"), f("c2", 7, 30, "s1"), f("s1", 9, 30)}, "c1 m1 s1 | c2"},
		{"a cause before a mechanism that nothing explains", []model.Finding{f("m1", 0, 30, "s1"), f("c1", 3, 30, "s1"), f("s1", 5, 30)}, "c1 s1 | m1"},
		{"a cause by two causes is the earlier one's", []model.Finding{f("c1", 0, 30, "c3"), f("c2", 2, 30, "c3"), f("c3", 9, 30, "s1"), f("s1", 10, 30)}, "c1 c3 s1 | c2"},
		{"causes that account for each other in a ring", []model.Finding{f("c1", 0, 30, "c2"), f("c2", 1, 30, "c3"), f("c3", 2, 30, "c1", "s1"), f("s1", 3, 30)}, "c1 c2 c3 s1"},
		{"one cause accounts for the other: one fault", []model.Finding{f("c1", 0, 30, "c2", "s1"), f("c2", 3, 30, "s1"), f("s1", 5, 30)}, "c1 c2 s1"},
		{"the same through a mechanism", []model.Finding{f("c1", 0, 30, "m1", "s1"), f("m1", 1, 30, "c2"), f("c2", 3, 30, "s1"), f("s1", 5, 30)}, "c1 m1 c2 s1"},
		{"a cause that explains itself", []model.Finding{f("c1", 0, 10, "c1")}, "c1"},
		{"one that explains what is not there", []model.Finding{f("c1", 0, 10, "s9")}, "c1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(3, 4))
			for range 20 { // whatever their order
				random.Shuffle(len(c.in), func(i, j int) { c.in[i], c.in[j] = c.in[j], c.in[i] })
				if got := show(Incidents(c.in)); got != c.want {
					t.Fatalf("got %q, want %q", got, c.want)
				}
			}
		})
	}
}
