package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"stallmark/storage/model"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -update writes it anew):\n%s", name, got)
	}
}

// stalled is a report with an incident, made by hand.
func stalled() model.Report {
	at := func(s int) time.Time { return time.Date(2026, 3, 1, 3, 12, s, 0, time.UTC) }
	ended := at(41)
	value, limit, zero := 2.1e9, 1.9e9, 0.0
	return model.Report{
		Window: model.Window{From: at(0), To: at(59)},
		Findings: []model.Finding{
			{
				ID: "a", Signature: "dirty-throttling", Title: "Writers are paused at the dirty-page limit", Layer: model.LayerCause,
				Severity: model.SeverityCritical, State: model.StateFiring, Confidence: model.Confirmed, Started: at(21),
				What: "The kernel lets writers sleep so that the disk can follow.\nOne pause lasts up to 200 ms.",
				Evidence: []model.Evidence{
					{Title: "Dirty and writeback pages against the point where pausing starts", Value: &value, Threshold: &limit, Unit: "bytes", Role: model.RoleConfirms, State: model.EvidenceHolds},
					{Title: "Threads seen asleep in the throttle", Value: &value, Unit: "count", Role: model.RoleWitness, State: model.EvidenceHolds, Detail: "SendMessage\x1b[31m_1 (pid 4242)"},
					{Title: "Memory pressure", Value: &zero, Threshold: &limit, Unit: "percent", Role: model.RoleContradicts, State: model.EvidenceFails},
					{Title: "Latency of the log's fsync", Unit: "ms", Role: model.RoleConfirms, State: model.EvidenceUnmeasured, Detail: "no log is followed"},
				},
				RuledOut: []model.RuledOut{{Signature: "disk-saturation", Why: "the disk was busy 41 % of the time"}},
				Remedy: []model.Remedy{
					{
						Title: "Start background writeback earlier", Kind: model.RemedyNow, Why: "writeback then keeps up before writers are paused",
						Current: "3.2 GB, from vm.dirty_background_ratio=10", Apply: "sysctl -w vm.dirty_background_bytes=268435456",
						Persist:  "echo vm.dirty_background_bytes=268435456 > /etc/sysctl.d/90-broker.conf",
						Rollback: "sysctl -w vm.dirty_background_ratio=10", Verify: "the pauses end within 30 s", Risk: "small writes reach the disk sooner, which costs IOPS",
					},
					{Title: "Give the store a faster disk", Kind: model.RemedyLater},
				},
			},
			{ID: "b", Signature: "append-stall", Title: "Appends are slow", Layer: model.LayerSymptom, Severity: model.SeverityWarning, Confidence: model.Likely, Started: at(22), Ended: &ended, Subject: map[string]string{"process": "broker"}},
			{ID: "c", Signature: "swap", Title: "Swap is in use", Layer: model.LayerCause, Severity: model.SeverityInfo, Confidence: model.Possible, Started: at(2), Ended: &ended},
		},
		Incidents: []model.Incident{{Root: "a", Findings: []string{"a", "b"}, Started: at(21)}},
		RuledOut:  []model.RuledOut{{Signature: "direct-reclaim", Why: "no allocation waited for reclaim"}},
		Unknown:   []model.Unknown{{Signature: "cpu-pressure", Why: "PSI is off", Mend: "boot with psi=1"}},
		Coverage: []model.Coverage{
			{Source: "vmstat", State: model.SourceOK},
			{Source: "meminfo", State: model.SourceOK},
			{Source: "pressure", State: model.SourceAbsent, Detail: "proc/pressure/cpu: operation not supported", Mend: "boot with psi=1"},
			{Source: "threads", State: model.SourceDenied, Detail: "no permission"},
			{Source: "cgroup", State: model.SourceDenied, Detail: "no permission"},
		},
	}
}

func TestReportText(t *testing.T) {
	for name, s := range map[string]screen{
		"stalled.txt":        {width: 100},
		"stalled-narrow.txt": {width: 48},
		"stalled-colour.txt": {width: 100, terminal: true},
	} {
		var b bytes.Buffer
		if err := writeText(&b, s, "broker-07 (Linux 5.10)", stalled()); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.String())
	}
}

func TestReportTextFitsTheScreen(t *testing.T) {
	for _, width := range []int{minWidth, 80, maxWidth} {
		var b bytes.Buffer
		if err := writeText(&b, screen{width: width}, "host", stalled()); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			isCommand := strings.Contains(line, "sysctl")
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width && !isCommand {
				t.Errorf("width %d: %d columns: %s", width, n, line)
			}
		}
	}
}

func TestReportTextWithoutFindings(t *testing.T) {
	r := model.Report{RuledOut: []model.RuledOut{{Signature: "direct-reclaim", Why: "0 stalls"}}}
	for name, c := range map[string]struct {
		unknown []model.Unknown
		want    string
	}{
		"all checked": {nil, "NOTHING FOUND: 1 known causes checked"},
		"not all":     {[]model.Unknown{{Signature: "x", Why: "no PSI"}}, "NOTHING FOUND, BUT NOT ALL COULD BE CHECKED: 1 ruled out, 1"},
	} {
		t.Run(name, func(t *testing.T) {
			r.Unknown = c.unknown
			var b bytes.Buffer
			if err := writeText(&b, screen{width: 100}, "host", r); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(b.String(), c.want) {
				t.Errorf("want %q in\n%s", c.want, b.String())
			}
		})
	}
}

func TestHostileTextIsEscaped(t *testing.T) {
	for in, want := range map[string]string{
		"plain é":             "plain é",
		"\x1b[2Jclear":        `\u001b[2Jclear`,
		"new\nline":           `new\u000aline`,
		"tab\there":           "tab here",
		"bad\xffbyte":         `bad\xffbyte`,
		"rtl\u202eoverride":   `rtl\u202eoverride`,
		"c1\u009b31m":         `c1\u009b31m`,
		"zero\u200bwidth":     `zero\u200bwidth`,
		"real \ufffd stays":   "real \ufffd stays",
		"del\x7f":             `del\u007f`,
		"nul\x00":             `nul\u0000`,
		"line\u2028separator": `line\u2028separator`,
	} {
		if got := oneLine(in); got != want {
			t.Errorf("oneLine(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestExitCodes(t *testing.T) {
	cause := model.Unknown{Layer: model.LayerCause, Severity: model.SeverityCritical}
	symptom := model.Unknown{Layer: model.LayerSymptom, Severity: model.SeverityCritical}
	for name, c := range map[string]struct {
		report model.Report
		want   int
	}{
		"nothing":                  {model.Report{}, 0},
		"finding":                  {model.Report{Findings: []model.Finding{{}}, Unknown: []model.Unknown{cause}}, 1},
		"unknown critical cause":   {model.Report{Unknown: []model.Unknown{symptom, cause}}, 3},
		"unknown critical symptom": {model.Report{Unknown: []model.Unknown{symptom}}, 0},
	} {
		if got := exitCode(c.report); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	for _, c := range [][3]int{{0, 0, 0}, {0, 3, 3}, {3, 1, 1}, {1, 0, 1}} {
		if got := worse(c[0], c[1]); got != c[2] {
			t.Errorf("worse(%d, %d) = %d, want %d", c[0], c[1], got, c[2])
		}
	}
}
