package web_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestIncidentPage tells the whole incident, whichever of its findings is asked
// for.
func TestIncidentPage(t *testing.T) {
	for _, id := range []string{"f-dirty", "f-busy"} {
		got := text(show(t, scene(t, "mended")).page(t, "/incidents/"+id))
		for _, want := range []string{
			"Was stalling Writers are paused at the dirty-page limit", "56 s confirmed", "mechanism Appends wait inside the kernel", "+3 s", "+7 s",
			"Writers are paused at the dirty-page limit began", "12 times in 53 s", "# Post-mortem:", "Fit both dirty limits to this disk", "→ 0 gone",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: the page does not say %q", id, want)
			}
		}
	}
	if w := show(t, scene(t, "calm")).get(t, "/incidents/none"); w.Code != http.StatusNotFound {
		t.Errorf("an unknown id: %d", w.Code)
	}
}

// TestTwoIncidentsStayTwo draws two faults apart, and a chain's arrow from what
// accounts for it.
func TestTwoIncidentsStayTwo(t *testing.T) {
	doc := show(t, scene(t, "two-incidents")).page(t, "/incidents")
	entries := find(doc, "entry-incident")
	if len(entries) != 2 {
		t.Fatalf("%d incidents", len(entries))
	}
	if steps := find(entries[0], "step"); len(steps) != 3 {
		t.Errorf("the stall has %d steps", len(steps))
	}
	if got := text(entries[1]); !strings.Contains(got, "Threads that allocate must reclaim memory themselves") || strings.Contains(got, "Appends wait") {
		t.Errorf("the other one is %q", got)
	}
	for i, arrow := range find(entries[0], "arrow") {
		if attr(arrow, "y1") != "-9" { // from the bar of the row above
			t.Errorf("arrow %d begins at %s", i, attr(arrow, "y1"))
		}
	}
	if n := len(find(show(t, scene(t, "two-incidents")).page(t, "/"), "step")); n != 3 {
		t.Errorf("the overview's chain has %d steps", n)
	}
}

// TestCalmPageHints says what the audit would change, and what does not apply
// apart from what was checked; a stall has neither between it and its evidence.
func TestCalmPageHints(t *testing.T) {
	doc := show(t, scene(t, "calm-unknown")).page(t, "/")
	if got := text(find(doc, "others")...); !strings.Contains(got, "Audit 1 warning 1 piece of advice") {
		t.Errorf("the audit's hint is %q", got)
	}
	if got := text(find(doc, "not-here")...); !strings.Contains(got, "2 do not apply to this host cfs-throttling no broker has a CPU quota") {
		t.Errorf("what does not apply is %q", got)
	}
	if got := text(find(show(t, scene(t, "stalling")).page(t, "/"), "others")...); strings.Contains(got, "Audit") {
		t.Error("the audit stands between a stall and its evidence")
	}
}

// TestNewbornWindow begins with the recording and says that it grows.
func TestNewbornWindow(t *testing.T) {
	got := text(show(t, scene(t, "newborn")).page(t, "/"))
	for _, want := range []string{"Recorded since 03:14:29 · this view grows to 15m", "No known stall"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// TestCliffsSayHowLong words the distance with its uncertainty.
func TestCliffsSayHowLong(t *testing.T) {
	got := text(find(show(t, scene(t, "nearing")).page(t, "/"), "cliffs")...)
	for _, want := range []string{"84 % 1.85 GiB → 2.2 GiB about 35 s away at the present slope; there whoever writes is paused", "not approaching", "a burst is faster"} {
		if !strings.Contains(got, want) {
			t.Errorf("cliffs do not say %q: %s", want, got)
		}
	}
}
