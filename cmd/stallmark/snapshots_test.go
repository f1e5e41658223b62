package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/storage/model"
	"stallmark/storage/snapshot"
)

// kept puts a snapshot of a recorded stall into a data folder.
func kept(t *testing.T) (data string, info snapshot.Info) {
	t.Helper()
	data = t.TempDir()
	f, err := snapshot.OpenFolder(snapshot.Config{Dir: snapshotFolder(data), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	start := time.Date(2026, 12, 1, 2, 0, 0, 0, time.UTC)
	series := func(name string, value func(i int) float64) snapshot.Series {
		s := snapshot.Series{Labels: []model.Label{{Name: "__name__", Value: name}}}
		for i := range 60 {
			s.T, s.V = append(s.T, start.Add(time.Duration(i)*time.Second).UnixMilli()), append(s.V, value(i))
		}
		return s
	}
	stalls := func(i int) float64 { return float64(max(0, i-20) * 300) }
	info, err = f.Put(&snapshot.Snapshot{
		Meta: snapshot.Meta{
			Format: snapshot.Format, Created: start.Add(time.Hour), By: "page", Title: "A stall", From: start, To: start.Add(59 * time.Second),
			Interval: time.Second, Host: "broker-07", Rules: "old",
		},
		Samples: []snapshot.Series{
			series("stallmark_allocstall_total", stalls),
			series("stallmark_pgscan_direct_total", func(i int) float64 { return 40 * stalls(i) }),
			series("node_pressure_memory_waiting_seconds_total", func(i int) float64 { return stalls(i) / 1000 }),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return data, info
}

func TestSnapshotCommand(t *testing.T) {
	data, info := kept(t)
	got := runProgram(t, "snapshot", "list", "--data", data)
	if got.code != exitOK || !strings.Contains(got.stdout, info.ID[:12]) || !strings.Contains(got.stdout, "A stall") {
		t.Fatalf("code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	dir := t.TempDir()
	archive, page := filepath.Join(dir, "x.stallmark"), filepath.Join(dir, "x.html")
	for _, name := range []string{archive, page} {
		if got := runProgram(t, "snapshot", "export", info.ID[:8], "--data", data, "-o", name); got.code != exitOK {
			t.Fatalf("code %d: %s", got.code, got.stderr)
		}
	}
	if got := runProgram(t, "snapshot", "export", info.ID[:8], "--data", data, "-o", archive); got.code != exitUsage {
		t.Error("an existing file is overwritten")
	}
	other := t.TempDir()
	got = runProgram(t, "snapshot", "import", archive, page, "--data", other)
	if got.code != exitOK || strings.TrimSpace(got.stdout) != info.ID+"\n"+info.ID {
		t.Errorf("code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	noise := filepath.Join(dir, "noise")
	if err := os.WriteFile(noise, []byte{0x7f, 'E', 'L', 'F', 2, 1, 1, 0}, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := runProgram(t, "snapshot", "import", noise, "--data", other); got.code != exitUsage || !strings.Contains(got.stderr, "not a snapshot") {
		t.Errorf("code %d: %s", got.code, got.stderr)
	}
	if got := runProgram(t, "snapshot", "delete", info.ID, "--data", data); got.code != exitOK {
		t.Errorf("code %d: %s", got.code, got.stderr)
	}
	if got := runProgram(t, "snapshot", "export", info.ID, "--data", data); got.code != exitUsage || !strings.Contains(got.stderr, "no such snapshot") {
		t.Errorf("code %d: %s", got.code, got.stderr)
	}
	for _, args := range [][]string{{"snapshot"}, {"snapshot", "nope"}, {"snapshot", "list", "x"}, {"snapshot", "create", "--from", "yesterday"}} {
		if got := runProgram(t, append(args, "--data", data)...); got.code != exitUsage {
			t.Errorf("%v: code %d", args, got.code)
		}
	}
}

// TestSnapshotReplays diagnoses an exported snapshot, as an archive and as a page.
func TestSnapshotReplays(t *testing.T) {
	data, info := kept(t)
	dir := t.TempDir()
	for _, name := range []string{filepath.Join(dir, "x.stallmark"), filepath.Join(dir, "x.html")} {
		if got := runProgram(t, "snapshot", "export", info.ID, "--data", data, "-o", name); got.code != exitOK {
			t.Fatal(got.stderr)
		}
		got := runProgram(t, "diagnose", "--json", name)
		var r model.Report
		if err := json.Unmarshal([]byte(got.stdout), &r); err != nil {
			t.Fatalf("%v: %s", err, got.stderr)
		}
		if len(r.Findings) != 1 || r.Findings[0].Signature != "direct-reclaim" || got.code != exitFound {
			t.Errorf("%s: code %d, findings %+v", name, got.code, r.Findings)
		}
	}
}

// TestDiagnoseRefusesWhatIsNoSnapshot has files whose names say that they are.
func TestDiagnoseRefusesWhatIsNoSnapshot(t *testing.T) {
	data, info := kept(t)
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.stallmark")
	if got := runProgram(t, "snapshot", "export", info.ID, "--data", data, "-o", whole); got.code != exitOK {
		t.Fatal(got.stderr)
	}
	archive, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	for name, contents := range map[string]string{
		"text.stallmark": "2026-12-01 02:00:00 WARN [TIMEOUT_CLEAN_QUEUE]broker busy", "empty.stallmark": "",
		"cut.stallmark": string(archive[:len(archive)/2]), "page.stallmark": "<!doctype html><p>nothing",
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(contents), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"diagnose", path}, {"diagnose", whole, path}} {
			got := runProgram(t, args...)
			if got.code != exitUsage || !strings.Contains(got.stderr, name+": ") || !strings.Contains(got.stderr, "not a snapshot") {
				t.Errorf("%d files with %s: code %d: %s", len(args)-1, name, got.code, got.stderr)
			}
			if (got.stdout != "") != (len(args) == 3) {
				t.Errorf("%d files with %s: %d bytes of a report", len(args)-1, name, len(got.stdout))
			}
		}
	}
	if got := runProgram(t, "diagnose", filepath.Join(dir, "none.stallmark")); got.code != exitUsage || !strings.Contains(got.stderr, "no such file") {
		t.Errorf("code %d: %s", got.code, got.stderr)
	}
}

// TestCVE202527591OutputIsPrivate exports and records under a umask that closes
// nothing (below CVE-2025-27591), and where a symbolic link lies in wait.
func TestCVE202527591OutputIsPrivate(t *testing.T) {
	before := unix.Umask(0)
	defer unix.Umask(before)
	p := &program{stdout: io.Discard, stderr: io.Discard}
	dir := t.TempDir()
	name, victim, link := filepath.Join(dir, "x.html"), filepath.Join(dir, "victim"), filepath.Join(dir, "link")
	write := func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }
	if err := p.writeOutput(name, write); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(name); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
	if err := os.Symlink(victim, link); err != nil {
		t.Fatal(err)
	}
	if err := p.writeOutput(link, write); err == nil {
		t.Error("written through a symbolic link")
	}
	recording := filepath.Join(dir, "x.tar.zst")
	if got := runProgram(t, "record", "-o", recording, "--for", "300ms", "--interval", "100ms", "--listen", "127.0.0.1:1"); got.code != exitOK {
		t.Error(got.stderr)
	}
	if st, err := os.Stat(recording); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
	if got := runProgram(t, "record", "-o", link, "--for", "1s"); got.code != exitUsage {
		t.Error("recorded through a symbolic link")
	}
	if _, err := os.Stat(victim); err == nil {
		t.Error("the file behind the link was made")
	}
}

func TestAutoFreeze(t *testing.T) {
	start := time.Date(2026, 12, 1, 2, 0, 0, 0, time.UTC)
	minute := func(n int) time.Time { return start.Add(time.Duration(n) * time.Minute) }
	finding := func(from, to int, severity model.Severity) model.Finding {
		end := minute(to)
		return model.Finding{Started: minute(from), Ended: &end, Severity: severity}
	}
	a := autoFreeze{before: 10 * time.Minute, after: 5 * time.Minute}
	a.ended(finding(0, 1, model.SeverityWarning))
	if _, _, ok := a.due(minute(100), false); ok {
		t.Error("a warning is frozen")
	}
	a.ended(finding(20, 21, model.SeverityCritical))
	if _, _, ok := a.due(minute(25), false); ok {
		t.Error("frozen before its time has passed")
	}
	a.ended(finding(23, 24, model.SeverityCritical))
	if _, _, ok := a.due(minute(29), true); ok {
		t.Error("frozen while something critical goes on")
	}
	from, to, ok := a.due(minute(29), false)
	if !ok || !from.Equal(minute(10)) || !to.Equal(minute(29)) {
		t.Errorf("%v to %v, %v", from, to, ok)
	}
	a.ended(finding(30, 31, model.SeverityCritical))
	if _, _, ok := a.due(minute(37), false); ok {
		t.Error("the next one comes too soon")
	}
	if _, _, ok := a.due(minute(39), false); !ok {
		t.Error("the next one does not come")
	}
	a.ended(finding(60, 200, model.SeverityCritical))
	if from, to, ok := a.due(minute(300), true); !ok || to.Sub(from) != autoLongest || !to.Equal(minute(205)) {
		t.Errorf("a long one: %v to %v, %v", from, to, ok)
	}
}

// TestAutoFreezeAfterRestart: an incident that ended before the program did is
// frozen by the next run, once.
func TestAutoFreezeAfterRestart(t *testing.T) {
	start := time.Date(2026, 12, 1, 2, 0, 0, 0, time.UTC)
	minute := func(n int) time.Time { return start.Add(time.Duration(n) * time.Minute) }
	end := minute(21)
	lately := model.Finding{Started: minute(20), Ended: &end, Severity: model.SeverityCritical, State: model.StateResolved}
	firing := lately
	firing.State = model.StateFiring
	frozen := []snapshot.Info{{Meta: snapshot.Meta{By: snapshot.Automatic, From: minute(10), To: minute(26)}}}
	for name, tt := range map[string]struct {
		f    model.Finding
		kept []snapshot.Info
		now  int
		want bool
	}{
		"ended lately":   {lately, nil, 27, true},
		"frozen already": {lately, frozen, 27, false},
		"by hand only":   {lately, []snapshot.Info{{Meta: snapshot.Meta{By: "page", From: minute(10), To: minute(26)}}}, 27, true},
		"long ago":       {lately, nil, 60, false},
		"still firing":   {firing, nil, 27, false},
	} {
		a := autoFreeze{before: 10 * time.Minute, after: 5 * time.Minute}
		a.resume([]model.Finding{tt.f}, tt.kept, minute(tt.now))
		if _, _, ok := a.due(minute(tt.now), false); ok != tt.want {
			t.Errorf("%s: %v", name, ok)
		}
	}
}
