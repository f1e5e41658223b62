package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stallmark/storage/model"
)

// stalledStoreLog is a store.log of an hour with a stall of ten seconds in it.
func stalledStoreLog() string {
	var b strings.Builder
	at := time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC)
	for i := range 3600 {
		fmt.Fprintf(&b, "%s INFO FlushRealTimeService - nothing %d\n", at.Format(time.DateTime), i)
		if i >= 1800 && i < 1810 {
			fmt.Fprintf(&b, "%s WARN SendMessageThread_1 - [NOTIFYME]putMessage in lock cost time(ms)=%d, bodyLength=1024 AppendMessageResult="+
				"AppendMessageResult{status=PUT_OK, wroteOffset=1, wroteBytes=1, msgId='x', storeTimestamp=%d, logicsOffset=1, pagecacheRT=900, msgNum=1}\n",
				at.Format(time.DateTime), 900+i, at.Add(-8*time.Hour).Add(-time.Duration(900+i)*time.Millisecond).UnixMilli())
		}
		at = at.Add(time.Second)
	}
	return b.String()
}

func TestDiagnoseLogsAlone(t *testing.T) {
	dir := t.TempDir()
	store := filepath.Join(dir, "store.log")
	if err := os.WriteFile(store, []byte(stalledStoreLog()), 0o600); err != nil {
		t.Fatal(err)
	}
	gc := filepath.Join(dir, "gc.log")
	pause := "[2026-03-01T03:30:05.500+0000][gc] GC(12) Pause Young (Normal) (G1 Evacuation Pause) 1000M->200M(4096M) 1212.300ms\n"
	if err := os.WriteFile(gc, []byte(pause), 0o600); err != nil {
		t.Fatal(err)
	}
	var report model.Report // findings or not: that depends on what signatures make of it
	if out := runProgram(t, "diagnose", "--json", store, gc); json.Unmarshal([]byte(out.stdout), &report) != nil {
		t.Fatalf("code %d: %s%s", out.code, out.stdout, out.stderr)
	}
	from, to := time.Date(2026, 3, 1, 3, 29, 0, 0, time.UTC), time.Date(2026, 3, 1, 3, 33, 0, 0, time.UTC)
	if report.Window.From.Before(from.Add(-time.Minute)) || report.Window.To.After(to) {
		t.Errorf("window %v", report.Window)
	}
	for _, f := range report.Findings {
		if f.Confidence != model.Possible {
			t.Errorf("%s is %s from logs alone", f.Signature, f.Confidence)
		}
	}
	if !slices.ContainsFunc(report.Unknown, func(u model.Unknown) bool { return u.Signature == "dirty-throttling" }) || len(report.Decide) == 0 {
		t.Errorf("what is missing is not said: %v, %v", report.Unknown, report.Decide)
	}
	formats := map[string]string{}
	for _, e := range report.Excerpts {
		formats[filepath.Base(e.File)] = e.Format
	}
	if formats["store.log"] != "rocketmq log" || formats["gc.log"] != "GC log" {
		t.Errorf("excerpts %+v", report.Excerpts)
	}
}

// TestDiagnoseBoot has a kernel log that counts from its boot beside a log with
// times: with --boot its lines stand where they belong.
func TestDiagnoseBoot(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	store := put("store.log", stalledStoreLog()) // stalls from 03:30:00 to 03:30:09 UTC
	dmesg := put("dmesg.txt", "[    0.000000] Linux version 6.12.0\n"+
		"[12602.500000] INFO: task java:4242 blocked for more than 120 seconds.\n"+
		"[12602.500001]  jbd2_log_wait_commit+0xe7/0x140\n"+
		"[12610.000000] Out of memory: Killed process 77 (python3) total-vm:1kB, anon-rss:1kB, file-rss:0kB\n")
	finding := func(r model.Report, id string) *model.Finding {
		for i := range r.Findings {
			if r.Findings[i].Signature == id {
				return &r.Findings[i]
			}
		}
		return nil
	}
	for _, boot := range []string{"2026-03-01T00:00:00Z", "1772323200", "2026-03-01 08:00:00+08:00"} {
		var r model.Report
		out := runProgram(t, "diagnose", "--json", "--boot", boot, store, dmesg)
		if err := json.Unmarshal([]byte(out.stdout), &r); err != nil || out.code != exitFound {
			t.Fatalf("%s: code %d, %v: %s", boot, out.code, err, out.stderr)
		}
		kernel, said := finding(r, "kernel-hung-task"), finding(r, "rocketmq-append-stall")
		if kernel == nil || said == nil {
			t.Fatalf("%s: findings %+v", boot, r.Findings)
		}
		at := time.Date(2026, 3, 1, 3, 30, 2, 500e6, time.UTC)
		if kernel.Told == nil || kernel.Told.Sub(at).Abs() > 2*time.Second {
			t.Errorf("%s: told at %v, want %v", boot, kernel.Told, at)
		}
	}
	out := runProgram(t, "diagnose", store, dmesg)
	if !strings.Contains(strings.Join(strings.Fields(out.stdout), " "), "they count from the boot of their host; --boot tells it") {
		t.Errorf("without --boot: %s", out.stdout)
	}
	for _, args := range [][]string{{"--boot", "yesterday", store}, {"--boot", "1772323200"}, {"--zone", "Nowhere/City", store}, {"--zone", "UTC"}} {
		if got := runProgram(t, append([]string{"diagnose"}, args...)...); got.code != exitUsage {
			t.Errorf("%v: code %d: %s", args, got.code, got.stderr)
		}
	}
}

// TestDiagnoseZone sets the zone of a log; what its lines prove against it is said.
func TestDiagnoseZone(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store.log")
	line := "2026-03-01 11:30:%02d WARN FlushRealTimeService - Flush data to disk costs 900 ms\n"
	text := ""
	for i := range 20 {
		text += fmt.Sprintf(line, i)
	}
	if err := os.WriteFile(store, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for zone, want := range map[string]time.Time{
		"+05:45":                 time.Date(2026, 3, 1, 5, 45, 0, 0, time.UTC),
		"store.*=Asia/Kathmandu": time.Date(2026, 3, 1, 5, 45, 0, 0, time.UTC),
		"UTC":                    time.Date(2026, 3, 1, 11, 30, 0, 0, time.UTC),
		"other.log=UTC":          time.Date(2026, 3, 1, 3, 30, 0, 0, time.UTC),
	} {
		var r model.Report
		out := runProgram(t, "diagnose", "--json", "--zone", zone, store)
		if err := json.Unmarshal([]byte(out.stdout), &r); err != nil {
			t.Fatalf("%s: %v: %s", zone, err, out.stderr)
		}
		if len(r.Findings) == 0 || r.Findings[0].Started.Sub(want).Abs() > 2*time.Second {
			t.Errorf("%s: want %v: %+v", zone, want, r.Findings)
		}
	}
	if err := os.WriteFile(store, []byte(stalledStoreLog()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := runProgram(t, "diagnose", "--zone", "UTC", store); !strings.Contains(strings.Join(strings.Fields(out.stdout), " "), "its zone was set to UTC, but UTC+08:00 is proven") {
		t.Errorf("nothing is said against the zone: %s", out.stdout)
	}
}

// TestDiagnoseLogsGivenOddly gives the same stall in ways that must not change what
// is said of it: twice, the newest line first, in two files, in an archive with
// hostile names beside a large file.
func TestDiagnoseLogsGivenOddly(t *testing.T) {
	text := stalledStoreLog()
	lines := strings.SplitAfter(text, "\n")
	lines = lines[:len(lines)-1]
	var turned strings.Builder
	for _, line := range slices.Backward(lines) {
		turned.WriteString(line)
	}
	half := len(strings.Join(lines[:1803], ""))
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, f := range []struct{ name, data string }{{"../../etc/passwd", "x"}, {"big.txt", strings.Repeat(strings.Repeat("x", 1<<16)+"\n", 160)}, {"logs/store.log", text}} {
		if err := errors.Join(w.WriteHeader(&tar.Header{Name: f.name, Size: int64(len(f.data)), Mode: 0o600}), second(w.Write([]byte(f.data)))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		files map[string]string
		note  string
	}{
		"twice":            {map[string]string{"store.log": text, "copy.log": text}, "all of it is in"},
		"an earlier copy":  {map[string]string{"store.log": text, "copy.log": text[:half]}, "all of it is in"},
		"newest first":     {map[string]string{"store.log": turned.String()}, "not in the order of their times"},
		"halves, turned":   {map[string]string{"store.log": text[half:] + text[:half]}, "not in the order of their times"},
		"a hostile folder": {map[string]string{"logs.tar": archive.String()}, "leaves the archive"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, data := range c.files {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(data), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			args := []string{"diagnose", "--json"}
			for file := range c.files {
				args = append(args, filepath.Join(dir, file))
			}
			var r model.Report
			out := runProgram(t, args...)
			if err := json.Unmarshal([]byte(out.stdout), &r); err != nil || len(r.Findings) != 1 {
				t.Fatalf("code %d, %v, findings %+v: %s", out.code, err, r.Findings, out.stderr)
			}
			f := r.Findings[0]
			if f.Signature != "rocketmq-append-stall" || f.Confidence != model.Possible || f.Started.Sub(time.Date(2026, 3, 1, 3, 29, 57, 300e6, time.UTC)).Abs() > time.Second {
				t.Errorf("finding %+v", f)
			}
			if len(f.Evidence) == 0 || !strings.Contains(f.Evidence[0].Detail, "10 lines") {
				t.Errorf("evidence %+v", f.Evidence)
			}
			if said, _ := json.Marshal(r.Excerpts); !strings.Contains(string(said), c.note) {
				t.Errorf("%q is not said: %s", c.note, said)
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }
