package view

import (
	"strings"
	"testing"
	"time"
)

// TestKeysAreOfThePage lists no key for what a page does not lead to.
func TestKeysAreOfThePage(t *testing.T) {
	text := func(p Page) string {
		var all []string
		for _, k := range p.keys() {
			all = append(all, strings.Join(k.Keys, " ")+": "+k.About)
		}
		return strings.Join(all, "\n")
	}
	live := text(Page{Share: true, Triage: true, Window: Window{Live: true, Range: "15m"}})
	for _, want := range []string{"Snapshots", "Triage", "Disks", "the last ", "go live"} {
		if !strings.Contains(live, want) {
			t.Errorf("no %q for the live host:\n%s", want, live)
		}
	}
	past := time.Date(2026, 12, 1, 2, 0, 0, 0, time.UTC)
	frozen := text(Page{Frozen: &Frozen{Created: past}, Window: Window{Base: "/s/x", From: past, To: past.Add(time.Minute)}})
	for _, of := range []string{"Now", "Snapshots", "Triage", "Disks", "Audit", "Status", "the last ", "live"} {
		if strings.Contains(frozen, of) {
			t.Errorf("%q in a snapshot:\n%s", of, frozen)
		}
	}
	if !strings.Contains(frozen, "Overview, Incidents, Logs, JVM") {
		t.Errorf("its own pages are not listed:\n%s", frozen)
	}
	if none := text(Page{Frozen: &Frozen{}, Window: Window{Base: "/s/x"}}); strings.Contains(none, "pages") {
		t.Errorf("pages of a link that opens nothing:\n%s", none)
	}
	if local := text(Page{Window: Window{Live: true}}); strings.Contains(local, "Triage") || strings.Contains(local, "Snapshots") {
		t.Errorf("pages that there are not:\n%s", local)
	}
}
