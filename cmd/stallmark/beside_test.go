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

// TestZoneBesideRecording gives logs without a zone that are of the recording's
// time in one zone only: they are placed there, and the words say the same.
func TestZoneBesideRecording(t *testing.T) {
	begin := beginOf(t, "c_direct_reclaim")
	for _, tt := range []struct {
		name, layout string
		zone         *time.Location
		says         string
	}{
		{"RocketMQ's own", time.DateTime, time.FixedZone("", 8*3600), "UTC+08:00 (RocketMQ's servers"},
		{"UTC", time.DateTime, time.UTC, "UTC (in it the lines are of the recording's time"},
		{"UTC with a fraction", "2006-01-02 15:04:05.000", time.UTC, "UTC (in it the lines are of the recording's time"},
		{"a comma, GMT+8", "2006-01-02 15:04:05,000", time.FixedZone("", 8*3600), "UTC+08:00 (in it the lines are of the recording's time"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			for i := range 5 {
				at := begin.Add(time.Duration(60+i) * time.Second)
				fmt.Fprintf(&b, "%s WARN SendMessageThread_1 - [NOTIFYME]putMessage in lock cost time(ms)=800, bodyLength=1024 "+
					"AppendMessageResult=AppendMessageResult{status=PUT_OK}\n", at.In(tt.zone).Format(tt.layout))
			}
			log := put(t, "store.log", b.String())
			old := begin.AddDate(1, 0, 0).Add(7 * time.Minute) // tells nothing: a copy
			if err := os.Chtimes(log, old, old); err != nil {
				t.Fatal(err)
			}
			r := triaged(t, exitFound, capturePath("c_direct_reclaim"), log)
			if got := strings.Join(incidentOf(r, "direct-reclaim"), " "); !strings.Contains(got, "rocketmq-append-stall") {
				t.Errorf("incident %q", got)
			}
			if got := fmt.Sprint(r.Excerpts); !strings.Contains(got, "times without a zone: "+tt.says) {
				t.Errorf("excerpts %s", got)
			}
		})
	}
}

// TestZoneBesideLongRecording gives a log that begins two hours into a recording of
// three: its zone is found over all of the recording, and not over its first hour.
func TestZoneBesideLongRecording(t *testing.T) {
	begin := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	var b strings.Builder
	for i := range 5 {
		at := begin.Add(2*time.Hour + time.Duration(i)*time.Second).In(time.FixedZone("", 8*3600))
		fmt.Fprintf(&b, "%s WARN SendMessageThread_1 - [NOTIFYME]putMessage in lock cost time(ms)=800, bodyLength=1024 "+
			"AppendMessageResult=AppendMessageResult{status=PUT_OK}\n", at.Format("2006-01-02 15:04:05,000"))
	}
	for hours, want := range map[time.Duration]bool{1: false, 3: true} {
		bundle := files.NewBundle(files.DefaultBundleLimits())
		bundle.Add("store.log", strings.NewReader(b.String()))
		p := triaging(t)
		x := p.newBeside(p.options, bundle, begin, func() time.Time { return begin.Add(hours * time.Hour) })
		said := fmt.Sprint(x.excerpts())
		if got := strings.Contains(said, "UTC+08:00 (in it the lines are of the recording's time"); got != want {
			t.Errorf("%d hours: fitted is %v, want %v: %s", hours, got, want, said)
		}
	}
}
