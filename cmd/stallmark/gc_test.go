package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

const gcFirst = `[2026-11-30T23:51:22.500+0000][0.030s][info][gc] Using G1
[2026-11-30T23:51:32.500+0000][10.030s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 6M->4M(96M) 8.000ms
[2026-11-30T23:51:32.500+0000][10.030s][info][gc,cpu] GC(0) User=0.01s Sys=0.00s Real=0.01s
`

const gcSecond = `[2026-11-30T23:51:43.500+0000][21.030s][info][gc] GC(1) Pause Full (System.gc()) 90M->5M(96M) 3000.000ms
[2026-11-30T23:51:43.500+0000][21.030s][info][gc,cpu] GC(1) User=0.20s Sys=0.10s Real=3.00s
`

// gcFolderOf writes files into a new folder.
func gcFolderOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		b := []byte(text)
		switch filepath.Ext(name) {
		case ".gz":
			var z bytes.Buffer
			w := gzip.NewWriter(&z)
			w.Write(b)
			w.Close()
			b = z.Bytes()
		case ".zst":
			w, err := zstd.NewWriter(nil)
			if err != nil {
				t.Fatal(err)
			}
			b = w.EncodeAll(b, nil)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// runGCOn runs the command and reads what it printed as JSON, always as a list.
func runGCOn(t *testing.T, stdin string, args ...string) (code int, logs []map[string]any, stderr string) {
	t.Helper()
	var out, problems bytes.Buffer
	p := &program{version: "test", stdin: strings.NewReader(stdin), stdout: &out, stderr: &problems, screen: screen{width: 100}}
	code = p.run(t.Context(), append([]string{"gc", "--json"}, args...))
	switch text := strings.TrimSpace(out.String()); {
	case strings.HasPrefix(text, "["):
		if err := json.Unmarshal([]byte(text), &logs); err != nil {
			t.Fatal(err)
		}
	case text != "":
		logs = []map[string]any{{}}
		if err := json.Unmarshal([]byte(text), &logs[0]); err != nil {
			t.Fatal(err)
		}
	}
	return code, logs, problems.String()
}

func TestGCRotatedSets(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		args  []string
	}{
		"the active file brings the others": {map[string]string{"gc.log": gcSecond, "gc.log.0": gcFirst}, []string{"gc.log"}},
		"all of them named":                 {map[string]string{"gc.log": gcSecond, "gc.log.0": gcFirst}, []string{"gc.log.0", "gc.log"}},
		"compressed":                        {map[string]string{"gc.log": gcSecond, "gc.log.2.gz": gcFirst}, []string{"gc.log"}},
		"of JDK 8":                          {map[string]string{"gc.log.1.current": gcSecond, "gc.log.0.zst": gcFirst}, []string{"gc.log.1.current"}},
		"a folder":                          {map[string]string{"x/gc-12.log": gcSecond, "x/gc-12.log.7": gcFirst, "other.txt": "nothing"}, []string{"."}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := gcFolderOf(t, c.files)
			args := make([]string, len(c.args))
			for i, a := range c.args {
				args[i] = filepath.Join(dir, a)
			}
			code, logs, stderr := runGCOn(t, "", args...)
			if code != exitOK || len(logs) != 1 {
				t.Fatalf("exit code %d, %d logs: %s", code, len(logs), stderr)
			}
			if logs[0]["gc_pause_count"] != 2.0 || logs[0]["jvms"] != 1.0 || logs[0]["to"] != "2026-11-30T23:51:43.500Z" {
				t.Errorf("got %v", logs[0])
			}
		})
	}
}

// TestGCCopies has a log beside copies of it, whole or of an earlier moment: it
// counts once.
func TestGCCopies(t *testing.T) {
	long := strings.Repeat(gcFirst, 200)
	for name, files := range map[string]map[string]string{
		"compressed":             {"gc.log": gcFirst + gcSecond, "gc.log.gz": gcFirst + gcSecond},
		"an earlier copy":        {"gc.log": gcFirst + gcSecond, "gc.log.1": gcFirst},
		"the copy is the longer": {"gc.log": gcFirst, "gc.log.1.zst": gcFirst + gcSecond},
		"three":                  {"gc.log": gcFirst + gcSecond, "gc.log.1": gcFirst, "gc.log.2.gz": gcFirst + gcSecond},
		"long ones":              {"gc.log": long + gcSecond, "gc.log.gz": long},
	} {
		t.Run(name, func(t *testing.T) {
			dir := gcFolderOf(t, files)
			code, logs, stderr := runGCOn(t, "", filepath.Join(dir, "gc.log"))
			want := 2.0
			if name == "long ones" {
				want = 201
			}
			if code != exitOK || len(logs) != 1 || logs[0]["gc_pause_count"] != want || !strings.Contains(stderr, "taken for a copy and left out") {
				t.Errorf("exit code %d, %v: %s", code, logs, stderr)
			}
		})
	}
}

func TestGCStandardInput(t *testing.T) {
	code, logs, stderr := runGCOn(t, gcFirst, "-")
	if code != exitOK || len(logs) != 1 || logs[0]["gc_pause_count"] != 1.0 || logs[0]["gc_pause_total_ms"] != 8.0 {
		t.Errorf("exit code %d: %v %s", code, logs, stderr)
	}
	if v, ok := logs[0]["safepoint_count"]; v != nil || !ok {
		t.Errorf("the log has no safepoints: want null, got %v", v)
	}
	if logs[0]["blocked_count"] != 0.0 || logs[0]["blocked_count(real>=0.1 and real>2*(user+sys))"] != 0.0 {
		t.Errorf("a figure with a remark in its name stands under both names: %v", logs[0])
	}
}

// What cannot be read is named, and the others are printed.
func TestGCBadInput(t *testing.T) {
	dir := gcFolderOf(t, map[string]string{"gc.log": gcFirst, "notes.txt": "one\ntwo\n", "cut.log.gz": gcFirst, "empty.log": ""})
	cut := filepath.Join(dir, "cut.log.gz")
	whole, err := os.ReadFile(cut)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cut, whole[:len(whole)-12], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		arg, want string
		logs      int
	}{
		{"notes.txt", "no line of a garbage collection log in 2 lines", 1},
		{"missing.log", "no such file", 1},
		{"empty.log", "no line of a garbage collection log in 0 lines", 1},
		{"cut.log.gz", "unexpected EOF", 2},
	} {
		code, logs, stderr := runGCOn(t, "", filepath.Join(dir, "gc.log"), filepath.Join(dir, c.arg))
		if code != exitUsage || len(logs) != c.logs || !strings.Contains(stderr, c.want) || !strings.Contains(stderr, c.arg) {
			t.Errorf("%s: exit code %d, %d logs, %q; want 2, %d, %q", c.arg, code, len(logs), stderr, c.logs, c.want)
		}
	}
	if code, _, stderr := runGCOn(t, ""); code != exitUsage || !strings.Contains(stderr, "name a log") {
		t.Errorf("without arguments: exit code %d, %q", code, stderr)
	}
}

func TestGCText(t *testing.T) {
	dir := gcFolderOf(t, map[string]string{"gc.log": gcFirst + gcSecond +
		`[2026-11-30T23:51:45.000+0000][22.530s][info][safepoint] Safepoint "Evil` + "\x1b[2J" + `", Time since last: 1 ns, Reaching safepoint: 1400000000 ns, At safepoint: 100000000 ns, Total: 1500000000 ns` + "\n"})
	var out, problems bytes.Buffer
	p := &program{version: "test", stdout: &out, stderr: &problems, screen: screen{width: 100}}
	if code := p.run(t.Context(), []string{"gc", filepath.Join(dir, "gc.log")}); code != exitOK {
		t.Fatalf("exit code %d: %s", code, problems.String())
	}
	text := strings.ReplaceAll(out.String(), dir, "DIR")
	golden(t, "gc.txt", text)
	if strings.Contains(text, "\x1b") {
		t.Error("an escape code came through")
	}
}
