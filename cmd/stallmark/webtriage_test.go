package main

import (
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"stallmark/rules"
	"stallmark/web"
)

// triaging is a service that judges what is given to its page.
func triaging(t *testing.T) *service {
	t.Helper()
	s := &service{program: &program{version: "test", stderr: io.Discard}, options: &options{}, log: slog.New(slog.DiscardHandler)}
	s.now = func() time.Time { return time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC) }
	pack, problems := rules.Load()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	s.judging.Store(&judging{pack: pack})
	return s
}

// TestRecordingOnThePage drops a recording, and a text beside it.
func TestRecordingOnThePage(t *testing.T) {
	data, err := os.ReadFile(capturePath("c_direct_reclaim"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := triaging(t).triageUploads(t.Context(), []web.Upload{{Name: "stall.tar.zst", Data: data}, {Name: "notes.txt", Data: []byte("hello")}})
	if err != nil {
		t.Fatal(err)
	}
	fired := false
	for _, f := range got.Report.Findings {
		fired = fired || f.Signature == "direct-reclaim"
	}
	if !fired || len(got.Lines) == 0 {
		t.Errorf("%d findings, %d lines", len(got.Report.Findings), len(got.Lines))
	}
	said := false
	for _, e := range got.Report.Excerpts {
		said = said || e.File == "notes.txt" && e.Format == ""
	}
	if !said {
		t.Error("nothing is said of the text beside the recording")
	}
}
