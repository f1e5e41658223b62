package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"stallmark/collectors/files"
)

// TestOwnRecordingReplaysToTheSameReport records a capture through the writer
// while it is replayed, and replays the recording.
func TestOwnRecordingReplaysToTheSameReport(t *testing.T) {
	for _, capture := range []string{"a_dirty_throttle", "m_idle"} {
		t.Run(capture, func(t *testing.T) {
			t.Parallel()
			own := filepath.Join(t.TempDir(), "own.tar.zst")
			rerecord(t, capturePath(capture), own)
			want := runProgram(t, "diagnose", "--json", capturePath(capture))
			got := runProgram(t, "diagnose", "--json", own)
			if got.stdout != want.stdout || got.code != want.code {
				t.Errorf("code %d, want %d; %s", got.code, want.code, firstDifference(got.stdout, want.stdout))
			}
		})
	}
}

// rerecord makes a recording in our own format of what the sources read from
// another one.
func rerecord(t *testing.T, from, to string) {
	t.Helper()
	rec, err := files.Open(from, files.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	m := recordedMachine(rec.Meta(), nil)
	p := &program{version: "v0-test"}
	if err := p.rerecord(context.Background(), rec, m, to); err != nil {
		t.Fatal(err)
	}
}

// firstDifference shows where two texts part.
func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d:\n got %s\nwant %s", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}
