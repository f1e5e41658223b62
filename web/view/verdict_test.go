package view

import (
	"strings"
	"testing"
	"time"

	"stallmark/storage/model"
)

func minute(m int) time.Time { return time.Date(2026, 3, 1, 3, m, 0, 0, time.UTC) }

func ends(m int) *time.Time { t := minute(m); return &t }

func window() Window {
	return Window{From: minute(0), To: minute(15), Live: true, Range: "15m", Path: "/"}
}

func finding(id string, severity model.Severity, confidence model.Confidence, started int, ended *time.Time) model.Finding {
	return model.Finding{ID: id, Signature: id, Title: id, Layer: model.LayerCause, Severity: severity, State: model.StateFiring, Confidence: confidence, Started: minute(started), Ended: ended}
}

// TestMainIncident is the order in which the banner chooses.
func TestMainIncident(t *testing.T) {
	crit, warn, info := model.SeverityCritical, model.SeverityWarning, model.SeverityInfo
	// Each stands before all that follow.
	all := []model.Finding{
		finding("firing-confirmed", crit, model.Confirmed, 1, nil),
		finding("firing-likely-late", crit, model.Likely, 9, nil),
		finding("firing-likely", crit, model.Likely, 2, nil),
		finding("firing-possible", crit, model.Possible, 9, nil),
		finding("ended", crit, model.Confirmed, 3, ends(5)),
		finding("warning", warn, model.Confirmed, 9, nil),
		finding("warned", warn, model.Confirmed, 9, ends(10)),
	}
	kinds := []VerdictKind{Stalling, Stalling, Stalling, Stalling, Stalled, Warning, Warned}
	for i := range all {
		var r model.Report
		for k := len(all) - 1; k >= i; k-- { // the order in the report does not matter
			r.Findings = append(r.Findings, all[k])
			if k%2 == 0 { // nor whether the engine has made incidents of them
				r.Incidents = append(r.Incidents, model.Incident{Root: all[k].ID, Findings: []string{all[k].ID}, Started: all[k].Started, Ended: all[k].Ended})
			}
		}
		v := NewVerdict(r, nil, window(), false)
		if v.Title != all[i].ID || v.Kind != kinds[i] {
			t.Errorf("of %d findings the banner is about %s, %s; want %s, %s", len(r.Findings), v.Title, v.Kind, all[i].ID, kinds[i])
		}
		if others, more := NewOthers(r, window()); len(others)+more != len(all)-1-i {
			t.Errorf("%d others, want %d", len(others), len(all)-1-i)
		}
	}
	pending := finding("pending", crit, model.Possible, 14, nil)
	pending.State = model.StatePending
	quiet := model.Report{Findings: []model.Finding{pending, finding("info", info, model.Confirmed, 3, nil)}}
	if v := NewVerdict(quiet, nil, window(), false); v.Kind != Calm {
		t.Errorf("a pending and an informative finding make the verdict %s", v.Kind)
	}
}

func TestBecause(t *testing.T) {
	ev := func(r model.Role, s model.EvidenceState) model.Evidence {
		return model.Evidence{Title: "T", Role: r, State: s, Detail: "thread a\nthread b"}
	}
	for _, c := range []struct {
		confidence model.Confidence
		evidence   []model.Evidence
		want       string
	}{
		{model.Confirmed, []model.Evidence{ev(model.RoleConfirms, model.EvidenceHolds), ev(model.RoleWitness, model.EvidenceHolds)}, "Witness: thread a"},
		{model.Likely, []model.Evidence{ev(model.RoleConfirms, model.EvidenceHolds), ev(model.RoleWitness, model.EvidenceFails)}, "1 of 1 measured confirmation holds, no direct witness seen"},
		{model.Possible, []model.Evidence{ev(model.RoleConfirms, model.EvidenceHolds), ev(model.RoleConfirms, model.EvidenceFails), ev(model.RoleContradicts, model.EvidenceHolds)}, "1 of 2 measured confirmations hold, no direct witness seen, 1 value speaks against it"},
		{model.Possible, []model.Evidence{ev(model.RoleConfirms, model.EvidenceUnmeasured)}, "the condition alone: no confirmation could be measured"},
	} {
		if got := because(model.Finding{Confidence: c.confidence, Evidence: c.evidence}); got != c.want {
			t.Errorf("because is %q, want %q", got, c.want)
		}
	}
}

// TestChain puts layers in order, and shows a busy disk under its root as a
// mechanism.
func TestChain(t *testing.T) {
	root, disk := finding("dirty", model.SeverityCritical, model.Confirmed, 1, nil), finding("disk", model.SeverityCritical, model.Likely, 1, nil)
	busy, slow := finding("busy", model.SeverityWarning, model.Likely, 2, nil), finding("slow", model.SeverityWarning, model.Likely, 2, nil)
	busy.Layer, slow.Layer = model.LayerSymptom, model.LayerMechanism
	again := busy
	again.ID = "busy-2"
	r := model.Report{
		Findings:  []model.Finding{busy, disk, again, slow, root},
		Incidents: []model.Incident{{Root: "dirty", Findings: []string{"dirty", "busy", "disk", "busy-2", "slow"}, Started: minute(1)}},
	}
	var got string
	for _, s := range NewVerdict(r, nil, window(), false).Chain.Steps {
		got += string(s.Layer) + ":" + s.Title + " "
	}
	if want := "cause:dirty mechanism:disk mechanism:slow symptom:busy "; got != want {
		t.Errorf("the chain is %q, want %q", got, want)
	}
}

// TestOthersOfOneKindAreOne counts what happened again and again, and names the
// worst kinds first.
func TestOthersOfOneKindAreOne(t *testing.T) {
	var r model.Report
	r.Findings = append(r.Findings, finding("main", model.SeverityCritical, model.Confirmed, 9, nil))
	for i := range 4 {
		f := finding("busy", model.SeverityWarning, model.Likely, i, ends(i+1))
		f.ID += string(rune('a' + i))
		r.Findings = append(r.Findings, f)
	}
	r.Findings = append(r.Findings, finding("stall", model.SeverityCritical, model.Likely, 1, ends(3)))
	for i := range 8 {
		r.Findings = append(r.Findings, finding("x"+string(rune('a'+i)), model.SeverityWarning, model.Possible, 0, ends(1)))
	}
	others, more := NewOthers(r, window())
	if len(others) != othersShown || more != 4 || others[0].Title != "stall" || !strings.HasPrefix(others[0].Text, "ended, 2") {
		t.Fatalf("%d further; %+v", more, others)
	}
	if o := others[1]; o.Title != "busy" || !strings.HasPrefix(o.Text, "4 times, the worst ended, 1") || o.Link != "/incidents" {
		t.Errorf("what happened again is %+v", o)
	}
}
