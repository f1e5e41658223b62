package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stallmark/rules/audit"
)

// auditedHost reads the results of a host that the tests of the checks judge.
func auditedHost(t *testing.T, name string) audited {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "rules", "audit", "testdata", "hosts", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	a := audited{What: name, At: time.Date(2026, 3, 1, 3, 12, 41, 0, time.UTC)}
	if err := json.Unmarshal(data, &a.Results); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAuditText(t *testing.T) {
	for _, name := range []string{"rocketmq-ossh", "kafka-mistakes"} {
		var b bytes.Buffer
		if err := writeAudit(&b, screen{width: 100}, auditedHost(t, name)); err != nil {
			t.Fatal(err)
		}
		golden(t, "audit-"+name+".txt", b.String())
	}
}

func TestAuditTextIsSafe(t *testing.T) {
	bad := "x\x1b[2J\nWARN: planted\u202e"
	a := audited{What: bad, Results: []audit.Result{
		{
			ID: bad, Title: bad, Area: audit.Kernel, State: audit.Warn, Subject: map[string]string{"device": bad}, Current: bad, Says: bad, Why: bad, Source: bad,
			Advice: &audit.Advice{Change: bad, Command: bad, Persist: bad, Rollback: bad, Risk: bad},
		},
		{ID: bad, Title: bad, Area: audit.Kafka, State: audit.Unknown, Subject: map[string]string{"process": bad, "pid": bad}, Says: bad, Mend: bad},
		{ID: bad, Title: bad, Area: audit.JVM, State: audit.Absent, Says: bad},
	}}
	var b bytes.Buffer
	if err := writeAudit(&b, screen{width: 100}, a); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(b.String(), "\x1b\u202e") {
		t.Errorf("control characters in %q", b.String())
	}
}

func TestAuditCode(t *testing.T) {
	of := func(states ...audit.State) []audited {
		var a audited
		for _, s := range states {
			a.Results = append(a.Results, audit.Result{State: s})
		}
		return []audited{a}
	}
	for _, c := range []struct {
		list  []audited
		level audit.State
		want  int
	}{
		{of(audit.OK, audit.Unknown, audit.Absent), audit.Advise, exitOK},
		{of(audit.OK, audit.Advise), audit.Advise, exitFound},
		{of(audit.OK, audit.Advise), audit.Warn, exitOK},
		{of(audit.OK, audit.Warn), audit.Warn, exitFound},
		{append(of(audit.OK), of(audit.Warn)...), audit.Advise, exitFound},
		{of(), audit.Advise, exitOK},
	} {
		if got := auditCode(c.list, c.level); got != c.want {
			t.Errorf("%+v at %s: %d, want %d", c.list, c.level, got, c.want)
		}
	}
}

// TestAuditRecording: idle machine, recorded; the recording has some of its settings, and what it lacks is unknown.
func TestAuditRecording(t *testing.T) {
	got := runProgram(t, "audit", "--json", "--fail-on", "advise", capturePath("m_idle"))
	if got.code != exitFound {
		t.Fatalf("code %d\n%s", got.code, got.stderr)
	}
	var a audited
	if err := json.Unmarshal([]byte(got.stdout), &a); err != nil {
		t.Fatal(err)
	}
	state := map[string]audit.State{}
	for _, r := range a.Results {
		state[r.ID] = r.State
	}
	for id, want := range map[string]audit.State{
		"dirty-limits": audit.Advise, "dirty-writeback": audit.Unknown, "psi": audit.OK, "kafka-heap": audit.Absent,
	} {
		if state[id] != want {
			t.Errorf("%s is %s, want %s", id, state[id], want)
		}
	}
	if text := runProgram(t, "audit", capturePath("m_idle")); text.code != exitOK || !strings.Contains(text.stdout, "ADVISE: How much unwritten data may gather") {
		t.Errorf("code %d\n%s", text.code, text.stdout)
	}
}

func TestAuditUsage(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a level that is none": {[]string{"audit", "--fail-on", "ok"}, "want warn or advise"},
		"no such recording":    {[]string{"audit", filepath.Join(t.TempDir(), "none")}, "no such file"},
	} {
		if got := runProgram(t, c.args...); got.code != exitUsage || !strings.Contains(got.stderr, c.want) {
			t.Errorf("%s: code %d, %s", name, got.code, got.stderr)
		}
	}
}

// TestAuditOfNothing: where nothing can be read the audit must not pass.
func TestAuditOfNothing(t *testing.T) {
	dir := t.TempDir()
	got := runProgram(t, "audit", "--interval", "100ms", "--procfs", dir, "--sysfs", dir)
	if got.code != exitUsage || !strings.Contains(got.stderr, "no setting could be read") || strings.Contains(got.stdout, "  ok ") {
		t.Errorf("code %d\n%s\n%s", got.code, got.stderr, got.stdout)
	}
}

// TestAuditLive judges the host that the test runs on, whatever it is.
func TestAuditLive(t *testing.T) {
	got := runProgram(t, "audit", "--json", "--interval", "100ms")
	if got.code != exitOK && got.code != exitFound {
		t.Fatalf("code %d\n%s", got.code, got.stderr)
	}
	var a audited
	if err := json.Unmarshal([]byte(got.stdout), &a); err != nil {
		t.Fatal(err)
	}
	if len(a.Results) < 20 {
		t.Errorf("only %d results", len(a.Results))
	}
	for _, r := range a.Results {
		if strings.HasPrefix(r.Says, "Not judged") {
			t.Errorf("%s: %s", r.ID, r.Says)
		}
	}
}

// TestAuditOwnChecks: a user's folder of rules may have checks; one with a
// mistake is named with its place and stops nothing.
func TestAuditOwnChecks(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "audit"), 0o700); err != nil {
		t.Fatal(err)
	}
	own := `- id: own-check
  area: kernel
  title: Own
  reads: {value: sysctl.vm.swappiness}
  current: "{{.V.value}}"
  why: Because.
  source: Us.
  verdicts:
    - {state: ok, says: Fine.}
`
	for name, text := range map[string]string{"own.yaml": own, "bad.yaml": "- id: bad\n  area: moon\n"} {
		if err := os.WriteFile(filepath.Join(dir, "audit", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := runProgram(t, "audit", "--rules", dir, capturePath("m_idle"))
	if !strings.Contains(got.stdout, "Own: ") || !strings.Contains(got.stderr, `bad.yaml:2:9: "moon": want one of kernel`) {
		t.Errorf("code %d\n%s\n%s", got.code, got.stderr, got.stdout)
	}
}
