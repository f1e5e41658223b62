package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stallmark/cmd/stalldrill/host"
	"stallmark/cmd/stalldrill/undo"
)

// says runs a command line and returns the exit code and both outputs.
func says(t *testing.T, args ...string) (int, string, string) {
	t.Helper()
	var out, errs bytes.Buffer
	h := host.Live()
	h.Lock = fmt.Sprintf("@stalldrill-test-%d-%s", os.Getpid(), t.Name())
	p := &program{host: h, program: "/nowhere", stdin: strings.NewReader(""), stdout: &out, stderr: &errs}
	code := p.run(context.Background(), args)
	return code, out.String(), errs.String()
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"without --yes":       {[]string{"run", "idle"}, "--yes"},
		"all without --yes":   {[]string{"all"}, "--yes"},
		"no mode":             {[]string{"run", "--yes"}, "name a mode"},
		"unknown mode":        {[]string{"run", "dance", "--yes"}, `no mode "dance"`},
		"one of two unknown":  {[]string{"run", "idle", "dance", "--yes"}, `no mode "dance"`},
		"unknown command":     {[]string{"dance"}, "no command"},
		"unknown option":      {[]string{"run", "idle", "--hard"}, "not defined"},
		"no time":             {[]string{"run", "idle", "--yes", "--for", "0s"}, "--for"},
		"too long":            {[]string{"run", "idle", "--yes", "--for", "11m"}, "--for"},
		"back in time":        {[]string{"run", "idle", "--yes", "--before", "-1s"}, "--before"},
		"negative gap":        {[]string{"all", "--yes", "--gap", "-1s"}, "--gap"},
		"not a size":          {[]string{"run", "idle", "--yes", "--leave-disk", "5"}, "size"},
		"a size below 0":      {[]string{"run", "idle", "--yes", "--leave-memory", "-5GiB"}, "size"},
		"all with a mode":     {[]string{"all", "idle", "--yes"}, "no modes"},
		"list with a mode":    {[]string{"list", "idle"}, "no arguments"},
		"ticker with a word":  {[]string{"ticker", "idle"}, "no arguments"},
		"ticker without beat": {[]string{"ticker", "--interval", "2s", "--for", "1s"}, "at least one beat"},
		"restore nothing":     {[]string{"restore"}, "name the folder"},
		"restore elsewhere":   {[]string{"restore", dir}, "state"},
		"matrix of no times":  {[]string{"matrix", "--yes", "--times", "0"}, "--times 0"},
		"matrix with no file": {[]string{"matrix", "--yes", "--results", dir}, "is a directory"},
		"guard by hand":       {[]string{"guard"}, "journal"},
		"work by hand":        {[]string{"work"}, "specification"},
	} {
		code, out, errs := says(t, append(c.args, "--dir", dir)...)
		if code != exitUsage || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%s: code %d, said %q and %q, want %q", name, code, out, errs, c.want)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("a refused drill made %v", left)
	}
}

func TestOneDrillAtATime(t *testing.T) {
	lock, err := undo.Lock(fmt.Sprintf("@stalldrill-test-%d-%s", os.Getpid(), t.Name()))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if code, _, errs := says(t, "run", "idle", "--yes", "--dir", t.TempDir()); code != exitUsage || !strings.Contains(errs, "another drill") {
		t.Errorf("code %d, said %q", code, errs)
	}
}

func TestLeftoversAreNamedAndRestored(t *testing.T) {
	h := host.Live()
	h.Sysctls = t.TempDir()
	setting, dir := h.Sysctl("a"), t.TempDir()
	if err := os.WriteFile(setting, []byte("60"), 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := undo.Create(h, dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Set(setting, "1"); err != nil {
		t.Fatal(err)
	}
	code, _, errs := says(t, "run", "idle", "--yes", "--dir", dir)
	if code != exitUsage || !strings.Contains(errs, "stalldrill restore "+j.Folder()) {
		t.Errorf("code %d, said %q", code, errs)
	}
	code, out, errs := says(t, "restore", j.Folder())
	if code != exitOK || !strings.Contains(out, setting+" = 60") {
		t.Errorf("code %d, said %q and %q", code, out, errs)
	}
	if got, _ := host.Read(setting); got != "60" {
		t.Errorf("restored to %s", got)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// A matrix that was made in pieces is printed without a drill, and so needs no --yes.
func TestResultsArePrinted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results")
	line := `{"mode":"idle","said":[{"signature":"x","seconds":2.5,"kind":"untrue"}],"right":false,"wrong":["x was not there"]}` + "\n"
	if err := os.WriteFile(path, []byte(line+line), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := says(t, "matrix", "--times", "0", "--results", path)
	if code != exitNot || errs != "" || !strings.Contains(out, "!2: 2.5, 2.5 s") || !strings.Contains(out, "2 drills, 2 wrong") {
		t.Errorf("code %d, said %q and %q", code, out, errs)
	}
}

func TestListAndHelp(t *testing.T) {
	code, out, errs := says(t, "list", "--json", "--dir", t.TempDir())
	if code != exitOK || errs != "" {
		t.Fatalf("code %d, %q", code, errs)
	}
	n := 0
	for line := range strings.Lines(out) {
		var row listed
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		if row.Possible == (row.Why != "") {
			t.Errorf("%s: possible %v because %q", row.Mode, row.Possible, row.Why)
		}
		n++
	}
	if n != 18 {
		t.Errorf("%d modes", n)
	}
	for _, args := range [][]string{{"--help"}, {}, {"help"}, {"run", "-h"}} {
		code, out, _ := says(t, args...)
		if code != exitOK || !strings.Contains(out, "ticker") || strings.Contains(out, "  guard") {
			t.Errorf("%q: code %d, said %q", args, code, out)
		}
	}
}

func TestTicker(t *testing.T) {
	code, out, errs := says(t, "ticker", "--interval", "5ms", "--for", "50ms", "--json")
	var got lateness
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != exitOK {
		t.Fatalf("code %d, %v, %q", code, err, errs)
	}
	if got.Beats != 10 || got.Late.Max <= 0 || got.Late.P50 > got.Late.Max {
		t.Errorf("got %+v", got)
	}
}
