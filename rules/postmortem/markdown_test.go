package postmortem

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stallmark/rules"
	"stallmark/storage/model"
)

var update = flag.Bool("update", false, "write the golden files anew")

func at(seconds int) time.Time {
	return time.Date(2026, 3, 1, 3, 12, 0, 0, time.UTC).Add(time.Duration(seconds) * time.Second)
}

func number(v float64) *float64 { return &v }

// throttled is an incident of a cause, a mechanism and a symptom, all over.
func throttled() Input {
	end := func(s int) *time.Time { t := at(s); return &t }
	cause := model.Finding{
		ID: "c", Signature: "dirty-throttling", Title: "Writers are paused at the dirty-page limit",
		Layer: model.LayerCause, Severity: model.SeverityCritical, Confidence: model.Confirmed,
		Subject: map[string]string{"device": "sda"}, Started: at(41), Ended: end(169),
		What: "The kernel lets processes write into memory\nuntil a limit is reached; then it pauses them.",
		Evidence: []model.Evidence{
			{Title: "Dirty pages", Value: number(3.2e9), Unit: "bytes", Threshold: number(3e9), Role: model.RoleConfirms, State: model.EvidenceHolds},
			{Title: "Writers seen waiting", Value: number(3), Unit: "count", Threshold: number(0), Role: model.RoleWitness, State: model.EvidenceHolds, Detail: "java (4242) in balance_dirty_pages"},
			{Title: "Own cgroup", Unit: "bytes", Role: model.RoleContext, State: model.EvidenceUnmeasured, Detail: "cgroup is absent"},
		},
		RuledOut: []model.RuledOut{{Signature: "disk-slow", Title: "A disk is slower than usual", Why: "6 ms at most, usual are 5 ms"}},
		Remedy: []model.Remedy{
			{Title: "Accept it", Kind: model.RemedyAccept, Why: "It is rare."},
			{
				Title: "Start background writeback earlier", Kind: model.RemedyNow, Why: "It begins at 2.75 GiB.", Current: "10 %",
				Apply: "sysctl -w vm.dirty_background_bytes=268435456", Persist: "vm.dirty_background_bytes = 268435456",
				Rollback: "sysctl -w vm.dirty_background_ratio=10", Verify: "The pauses stop.", Risk: "More, smaller writes.",
			},
		},
	}
	mechanism := model.Finding{
		ID: "m", Signature: "disk-saturation", Title: "A disk has no time left", Layer: model.LayerMechanism,
		Severity: model.SeverityWarning, Confidence: model.Likely, Started: at(43), Ended: end(160),
	}
	symptom := model.Finding{
		ID: "s", Signature: "rocketmq-broker-busy", Title: "The broker turns producers away", Layer: model.LayerSymptom,
		Severity: model.SeverityCritical, Confidence: model.Likely, Started: at(46), Ended: end(165),
	}
	other := model.Finding{ID: "x", Title: "Another incident's", Started: at(0)}
	return Input{
		Host: "broker-07", Version: "v1", Now: at(3600),
		Incident: model.Incident{Root: "c", Findings: []string{"c", "s", "m"}, Started: at(41), Ended: end(169)},
		Findings: []model.Finding{other, symptom, mechanism, cause},
		Unknown:  []model.Unknown{{Signature: "oom-kill", Title: "The kernel killed a process", Why: "this kernel (3.10) has no node_vmstat_oom_kill", Mend: "dmesg -T"}},
		Effects: []rules.Effect{
			{
				At:       at(130),
				Settings: []rules.Setting{{Key: "sysctl.vm.dirty_background_bytes", Old: "0", New: "268435456"}, {Key: "sysctl.vm.dirty_background_ratio", Old: "10", New: "0"}},
				Measures: []rules.Measure{{Title: "Pauses", Unit: "per_second", Before: 41, After: 0, Change: rules.MeasureGone}},
			},
			{At: at(168), Settings: []rules.Setting{{Key: "thp.enabled", Old: "always", New: ""}}},
		},
		Events: []model.Event{
			{From: at(-30), Kind: model.EventLog, Source: "store.log", Text: "long before"},
			{From: at(50), Kind: model.EventLog, Source: "store.log", Text: "[TIMEOUT_CLEAN_QUEUE]broker busy", Count: 853},
			{From: at(51), Kind: model.EventBlocked, Source: "threads", Text: "a thread"},
			{From: at(130), Kind: model.EventSetting, Source: "settings", Text: "twice"},
		},
	}
}

// open is an incident that goes on, of one finding that lacks its baseline.
func open() Input {
	in := throttled()
	f := in.Findings[3]
	f.Ended, f.Confidence, f.Caveat, f.Remedy, f.RuledOut, f.Evidence = nil, model.Possible, "no baseline yet", nil, nil, nil
	in.Incident = model.Incident{Root: "c", Findings: []string{"c"}, Started: at(41)}
	in.Findings, in.Effects, in.Events, in.Unknown, in.Now = []model.Finding{f}, nil, nil, nil, at(101)
	return in
}

func TestMarkdown(t *testing.T) {
	for name, in := range map[string]Input{"throttled": throttled(), "open": open(), "hostile": hostile()} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", name+".md")
			got := Markdown(in)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil || got != string(want) {
				t.Errorf("differs from %s (go test -update, then read the difference): %v\n%s", path, err, got)
			}
		})
	}
}

const evil = "a|b\n# c\n- d `x` <script>alert(1)</script> [l](http://evil) www.evil.org ![i](j) *b* _u_ \x1b[31m \u202e ~~~ &lt; \\ x@y"

// hostile is an incident in which every text from the host is hostile.
func hostile() Input {
	in := throttled()
	in.Host, in.Version = evil, evil
	for i := range in.Findings {
		f := &in.Findings[i]
		f.Subject = map[string]string{"topic": evil}
	}
	c := &in.Findings[3]
	c.Evidence[1].Detail = evil
	c.RuledOut[0].Why = evil
	in.Unknown[0].Why, in.Unknown[0].Mend = evil, evil
	in.Effects[0].Settings[0] = rules.Setting{Key: evil, Old: evil, New: evil}
	in.Events[1].Text, in.Events[1].Source = evil, evil
	c.Remedy[1].Current = evil
	c.Remedy[1].Apply = "echo ```\n````\nrm x"
	return in
}

// Nothing of hostile text is left that Markdown would read.
func TestHostileTextStaysText(t *testing.T) {
	got := Markdown(hostile())
	for _, bad := range []string{"<script", "\x1b", "\u202e", "](http", "![i", "`x`", "\n# c", "http://", "www.evil", " x@y", "| b"} {
		if i := strings.Index(got, bad); i >= 0 && got[i-1] != '\\' {
			t.Errorf("%q is left: %.80q", bad, got[max(0, i-20):])
		}
	}
	for i, line := range strings.Split(got, "\n") {
		if strings.HasPrefix(line, "| ") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") > 5 {
			t.Errorf("line %d: a table row with more cells: %s", i+1, line)
		}
	}
	if !strings.Contains(got, "`````sh\necho ```\n````\nrm x\n`````") {
		t.Error("the fence is not longer than what it holds")
	}
}

func TestLongTimeLine(t *testing.T) {
	in := throttled()
	in.Events = nil
	for i := range 250 {
		in.Events = append(in.Events, model.Event{From: at(42 + i/5), Kind: model.EventLog, Text: "x"})
	}
	if got := Markdown(in); !strings.Contains(got, "and 150 more events") || strings.Count(got, "log, : x") != maxEvents {
		t.Error("the time line is not bounded")
	}
}

func FuzzText(f *testing.F) {
	f.Add(evil)
	f.Add("1. x")
	f.Add("- x")
	f.Fuzz(func(t *testing.T, s string) {
		for _, got := range []string{text(s), paragraph(s)} {
			if strings.ContainsAny(got, "\n\r") {
				t.Fatalf("%q: more than a line", got)
			}
			bare := strings.NewReplacer(`\\`, "", `\|`, "", `\<`, "", "\\`", "", `\[`, "", `\#`, "").Replace(got)
			if strings.ContainsAny(bare, "|<`[") || strings.HasPrefix(bare, "#") {
				t.Fatalf("%q is left of %q", bare, s)
			}
		}
	})
}
