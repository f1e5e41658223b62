package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"stallmark/collectors/files"
	"stallmark/storage/model"
	"stallmark/web"
)

// putLog writes a store.log with a long append in each of some seconds.
func putLog(from time.Time, seconds int) string {
	var b strings.Builder
	for i := range seconds {
		at := from.Add(time.Duration(i) * time.Second).UTC().Format("2006-01-02T15:04:05.000Z")
		fmt.Fprintf(&b, "%s WARN SendMessageThread_1 - [NOTIFYME]putMessage in lock cost time(ms)=%d, bodyLength=1024 AppendMessageResult=AppendMessageResult{status=PUT_OK}\n", at, 800)
	}
	return b.String()
}

// beginOf is the time of a capture's first tick.
func beginOf(t *testing.T, name string) time.Time {
	t.Helper()
	rec, err := files.Open(capturePath(name), files.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	for tick, err := range rec.Ticks() {
		if err != nil {
			t.Fatal(err)
		}
		return tick.At
	}
	t.Fatal("no tick")
	return time.Time{}
}

// incidentOf lists the signatures of the incident of a signature.
func incidentOf(r model.Report, signature string) []string {
	ids := map[string]string{}
	for _, f := range r.Findings {
		ids[f.ID] = f.Signature
	}
	for _, in := range r.Incidents {
		var list []string
		for _, id := range in.Findings {
			list = append(list, ids[id])
		}
		if strings.Contains(strings.Join(list, " "), signature) {
			return list
		}
	}
	return nil
}

// TestLogBesideRecording gives a log of the recording's time: its symptom joins
// the incident of the kernel's cause. A log of another day is judged alone.
func TestLogBesideRecording(t *testing.T) {
	begin := beginOf(t, "c_direct_reclaim")
	same := put(t, "store.log", putLog(begin.Add(-time.Hour), 1)+putLog(begin.Add(60*time.Second), 5))
	r := triaged(t, exitFound, capturePath("c_direct_reclaim"), same)
	if got := strings.Join(incidentOf(r, "direct-reclaim"), " "); !strings.Contains(got, "rocketmq-append-stall") {
		t.Errorf("incident %q, excerpts %+v", got, r.Excerpts)
	}
	for _, f := range r.Findings {
		if f.Started.Before(begin.Add(-time.Minute)) {
			t.Errorf("%s started at %v, before the recording", f.Signature, f.Started)
		}
	}
	other := put(t, "store.log", putLog(begin.AddDate(0, 0, -3), 5))
	got := runProgram(t, "diagnose", "--json", capturePath("c_direct_reclaim"), other)
	if !strings.HasPrefix(got.stdout, "[") || !strings.Contains(got.stdout, "no line of it is of the recording's time") {
		t.Errorf("code %d: %.300s %s", got.code, got.stdout, got.stderr)
	}
}

// TestLogBesideRecordingOnThePage drops both on the page.
func TestLogBesideRecordingOnThePage(t *testing.T) {
	data, err := os.ReadFile(capturePath("c_direct_reclaim"))
	if err != nil {
		t.Fatal(err)
	}
	log := putLog(beginOf(t, "c_direct_reclaim").Add(60*time.Second), 5)
	got, err := triaging(t).triageUploads(t.Context(), []web.Upload{{Name: "store.log", Data: []byte(log)}, {Name: "stall.tar.zst", Data: data}})
	if err != nil {
		t.Fatal(err)
	}
	if list := strings.Join(incidentOf(got.Report, "direct-reclaim"), " "); !strings.Contains(list, "rocketmq-append-stall") {
		t.Errorf("incident %q, excerpts %+v", list, got.Report.Excerpts)
	}
}
