package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ruleFolder makes a folder with one signature file.
func ruleFolder(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

const goodRule = `id: mine
title: Load is high
layer: symptom
severity: warning
needs: [node_load1]
when: node_load1 > 10
quiet: {expr: node_load1, unit: count, text: "load is {{.Value}}"}
what: Many tasks want to run.
tests:
  - name: high
    series: ['node_load1 20x60']
    expect: firing
`

func TestRulesCommands(t *testing.T) {
	good := ruleFolder(t, goodRule)
	bad := ruleFolder(t, strings.Replace(goodRule, "node_load1 > 10", "node_load1 >", 1))
	failing := ruleFolder(t, strings.Replace(goodRule, "expect: firing", "expect: quiet", 1))
	audited := ruleFolder(t, goodRule)
	if err := os.Mkdir(filepath.Join(audited, "audit"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(audited, "audit", "own.yaml"), []byte("- id: x\n  area: moon\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"check audit":    {[]string{"rules", "check", audited}, 1, "audit/own.yaml:2:9:"},
		"list":           {[]string{"rules", "list"}, 0, "dirty-throttling"},
		"list a folder":  {[]string{"rules", "list", "--rules", good}, 0, "Load is high"},
		"check":          {[]string{"rules", "check"}, 0, "no mistakes"},
		"check a folder": {[]string{"rules", "check", good}, 0, "no mistakes"},
		"check mistakes": {[]string{"rules", "check", bad}, 1, "mine.yaml:6:"},
		"test":           {[]string{"rules", "test", good}, 0, ", 0 failed"},
		"export":         {[]string{"rules", "export"}, 0, "alert: StallmarkCfsThrottling"},
		"export at 1m":   {[]string{"rules", "export", "--scrape", "1m", good}, 0, "alert: StallmarkMine"},
		"export at 0":    {[]string{"rules", "export", "--scrape", "1ms"}, 2, ""},
		"test failures":  {[]string{"rules", "test", failing}, 1, ", 1 failed"},
	} {
		t.Run(name, func(t *testing.T) {
			got := runProgram(t, c.args...)
			if got.code != c.code || !strings.Contains(got.stdout, c.want) {
				t.Errorf("code %d, want %d; want %q in\n%s%s", got.code, c.code, c.want, got.stdout, got.stderr)
			}
		})
	}
}

func TestMistakeInAUsersFileStopsNothing(t *testing.T) {
	bad := ruleFolder(t, "id: [\n")
	got := runProgram(t, "diagnose", "--json", "--rules", bad, capturePath("m_idle"))
	if got.code != exitOK || !strings.Contains(got.stderr, "mine.yaml") || !json.Valid([]byte(got.stdout)) {
		t.Errorf("code %d\n%s", got.code, got.stderr)
	}
}

func TestSeveralRecordings(t *testing.T) {
	one := runProgram(t, "diagnose", "--json", capturePath("m_idle"))
	two := runProgram(t, "diagnose", "--json", capturePath("m_idle"), capturePath("j_odirect"))
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(two.stdout), &list); err != nil || len(list) != 2 || two.code != exitFound {
		t.Errorf("%d reports, code %d, %v", len(list), two.code, err)
	}
	if strings.HasPrefix(one.stdout, "[") {
		t.Error("one recording gives an array")
	}
	mixed := runProgram(t, "diagnose", "--json", capturePath("m_idle"), filepath.Join(t.TempDir(), "none"))
	if mixed.code != exitUsage || !json.Valid([]byte(mixed.stdout)) {
		t.Errorf("a missing one among good ones: code %d\n%s", mixed.code, mixed.stderr)
	}
}

func TestRulesListCost(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Write([]byte(`[{"signature":"own","mean":250000,"peak":300000,"budget":100000,"off":true},{"signature":"ours","built_in":true,"mean":12.3,"peak":400}]`)) //nolint:errcheck // a test's own client
	}))
	defer service.Close()
	listen := strings.TrimPrefix(service.URL, "http://")
	got := runProgram(t, "rules", "list", "--cost", "--listen", listen)
	for _, want := range []string{"250,000      300,000      100,000  own  (switched off)", "12.3          400            -  ours\n"} {
		if got.code != exitOK || !strings.Contains(got.stdout, want) {
			t.Errorf("code %d, %q is not in\n%s%s", got.code, want, got.stdout, got.stderr)
		}
	}
	service.Close()
	if got := runProgram(t, "rules", "list", "--cost", "--listen", listen); got.code != exitUsage {
		t.Errorf("no service: code %d", got.code)
	}
}
