package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestDiagnoseMarkdown(t *testing.T) {
	got := runProgram(t, "diagnose", "--markdown", capturePath("a_dirty_throttle"))
	for _, want := range []string{"# Post-mortem: Writers are paused", "**cause begins**", "## Ruled out", "## Proposed", "```sh\n"} {
		if got.code != exitFound || !strings.Contains(got.stdout, want) {
			t.Errorf("code %d, %q is not in\n%s%s", got.code, want, got.stdout, got.stderr)
		}
	}
	got = runProgram(t, "diagnose", "--markdown", capturePath("m_idle"))
	if !strings.Contains(got.stdout, ": no known stall") || !strings.Contains(got.stdout, "## Ruled out") {
		t.Errorf("code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if got = runProgram(t, "diagnose", "--markdown", "--json", capturePath("m_idle")); got.code != exitUsage {
		t.Errorf("both: code %d", got.code)
	}
}

func TestPostmortemCommand(t *testing.T) {
	incidents := `[]`
	service := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/v1/report":
			rw.Write([]byte(`{"incidents":` + incidents + `}`)) //nolint:errcheck // a test's own client
		case "/api/v1/incidents/f-1/postmortem":
			rw.Write([]byte("# Post-mortem\n")) //nolint:errcheck // a test's own client
		case "/api/v1/incidents/bad/postmortem":
			http.Error(rw, "no", http.StatusInternalServerError)
		default:
			http.NotFound(rw, r)
		}
	}))
	defer service.Close()
	ask := func(args ...string) result {
		return runProgram(t, append([]string{"postmortem", "--listen", strings.TrimPrefix(service.URL, "http://")}, args...)...)
	}
	if got := ask("f-1"); got.code != exitOK || got.stdout != "# Post-mortem\n" {
		t.Errorf("code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if got := ask("f-2"); got.code != exitFound || !strings.Contains(got.stderr, "f-2") {
		t.Errorf("an unknown id: code %d, %s", got.code, got.stderr)
	}
	if got := ask("bad"); got.code != exitUsage || !strings.Contains(got.stderr, "500") {
		t.Errorf("a failing service: code %d, %s", got.code, got.stderr)
	}
	if got := ask(); got.code != exitFound || !strings.Contains(got.stderr, "no incident") {
		t.Errorf("no incident: code %d, %s", got.code, got.stderr)
	}
	incidents = `[{"root":"f-1","findings":["f-1"],"started":"2026-03-01T03:12:41.350Z","ended":null}]`
	if got := ask(); got.code != exitOK || got.stdout != "# Post-mortem\n" {
		t.Errorf("the worst: code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	service.Close()
	if got := ask("f-1"); got.code != exitUsage || !strings.Contains(got.stderr, "no service answers") {
		t.Errorf("no service: code %d, %s", got.code, got.stderr)
	}
}
