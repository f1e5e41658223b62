package main

import (
	"encoding/json"
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
