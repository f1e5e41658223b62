package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stallmark/storage/model"
)

// post diagnoses what somebody wrote when a broker was slow.
func post(t *testing.T, code int, name string) (model.Report, map[string]model.Finding) {
	t.Helper()
	r := triaged(t, code, filepath.Join("testdata", "posts", name))
	byID := map[string]model.Finding{}
	for _, f := range r.Findings {
		byID[f.Signature] = f
	}
	return r, byID
}

// TestPostOfGCAndBrokerLog has both logs in one text: the lines of the broker are
// what the pauses explain.
func TestPostOfGCAndBrokerLog(t *testing.T) {
	r, found := post(t, exitFound, "gc-broker.txt")
	cause := found["gc-stop-the-world"]
	if cause.ID == "" || found["rocketmq-broker-busy"].ID == "" || len(r.Incidents) != 1 || r.Incidents[0].Root != cause.ID {
		t.Fatalf("incidents %+v of %+v", r.Incidents, r.Findings)
	}
	for _, f := range r.Findings {
		if f.Confidence != model.Possible {
			t.Errorf("%s is %s on the word of logs", f.Signature, f.Confidence)
		}
	}
	// Both pauses are in it.
	began, ended := time.Date(2026, 3, 1, 2, 0, 12, 332e6, time.UTC), time.Date(2026, 3, 1, 2, 0, 42, 913e6, time.UTC)
	if !cause.Started.Equal(began) || cause.Ended == nil || cause.Ended.Before(ended) || cause.Ended.After(ended.Add(3*time.Second)) {
		t.Errorf("from %v to %v, want %v to %v", cause.Started, cause.Ended, began, ended)
	}
	if n := len(r.Incidents[0].Findings); n != len(r.Findings) || n != 3 { // the pauses, and what the broker said after each
		t.Errorf("%d of %d findings in the incident", n, len(r.Findings))
	}
}

// TestPostOfTableBesideLog has a table without times beside lines with them: it is
// of the same minutes, and this is said.
func TestPostOfTableBesideLog(t *testing.T) {
	r, found := post(t, exitFound, "vmstat-store.txt")
	if found["rocketmq-append-stall"].ID == "" {
		t.Errorf("findings %+v", r.Findings)
	}
	if span := r.Window.To.Sub(r.Window.From); span > time.Hour {
		t.Errorf("the window is %v", span)
	}
	said := false
	for _, e := range r.Excerpts {
		said = said || strings.Contains(strings.Join(e.Notes, " "), "no times; taken to end at 2026-03-01T03:12:44Z")
	}
	if i := slices.IndexFunc(r.Excerpts, func(e model.Excerpt) bool { return e.Format == "rocketmq log" }); i < 0 || r.Excerpts[i].From < 30 || r.Excerpts[i].To > 40 {
		t.Errorf("the log's lines are not those of the text: %+v", r.Excerpts)
	}
	if !said {
		t.Errorf("excerpts %+v", r.Excerpts)
	}
}

// TestPostOfMeans has ten-minute means of sar: possible, and every remedy speaks in
// whole sentences though no memory was measured.
func TestPostOfMeans(t *testing.T) {
	r, found := post(t, exitFound, "sar-B.txt")
	f := found["direct-reclaim"]
	if f.Confidence != model.Possible {
		t.Fatalf("findings %+v", r.Findings)
	}
	for _, m := range f.Remedy {
		if len(m.Why) > 0 && len(m.Why) < 10 {
			t.Errorf("%s: why %q", m.Title, m.Why)
		}
	}
}

// TestPostOfTwoCopies has /proc/vmstat twice, with the sleep between them on the
// command line: what grew is a rate, and possible.
func TestPostOfTwoCopies(t *testing.T) {
	r, found := post(t, exitFound, "vmstat-twice.txt")
	f := found["direct-reclaim"]
	if len(r.Findings) != 1 || f.Confidence != model.Possible || f.Evidence[0].Value == nil || *f.Evidence[0].Value < 69 || *f.Evidence[0].Value > 71 {
		t.Errorf("findings %+v", r.Findings)
	}
	for _, u := range r.Unknown {
		if strings.Contains(u.Why, "h0m") {
			t.Errorf("%s: %s", u.Signature, u.Why)
		}
	}
}
