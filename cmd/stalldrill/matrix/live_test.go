package matrix

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// script is a program in sh.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	return path
}

func TestLiveRecorderIsStartedAndEnded(t *testing.T) {
	keep := t.TempDir()
	c := Live{Dir: t.TempDir(), Keep: keep, Record: time.Minute, Errors: os.Stderr, Program: script(t, `
case $1 in
serve) echo "stallmark 1: http://127.0.0.1:1"; trap 'exit 0' TERM; while :; do sleep 0.05; done ;;
record) echo text >"$3"; trap 'exit 0' TERM; while :; do sleep 0.05; done ;;
esac
`)}
	for _, wanted := range []bool{true, false} {
		r, err := c.Start(context.Background(), "idle")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Report(context.Background(), time.Now(), time.Now()); err == nil {
			t.Error("a report from nowhere")
		}
		for range 200 { // until the recording has begun
			if found, _ := filepath.Glob(filepath.Join(keep, "*.partial")); len(found) > 0 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		kept, err := r.Stop(wanted)
		if err != nil || (kept != "") != wanted {
			t.Errorf("kept %q, %v", kept, err)
		}
	}
	if found, _ := filepath.Glob(filepath.Join(keep, "*")); len(found) != 1 || !strings.HasPrefix(filepath.Base(found[0]), "idle-") {
		t.Errorf("kept %q, want one recording", found)
	}
	if left, _ := os.ReadDir(c.Dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestLiveRecorderThatDoesNotStart(t *testing.T) {
	for name, program := range map[string]string{
		"no program": filepath.Join(t.TempDir(), "none"),
		"refuses":    script(t, "echo no >&2; exit 2"),
		"mute":       script(t, "echo hello; exec sleep 60"),
	} {
		dir := t.TempDir()
		if _, err := (Live{Dir: dir, Program: program, Errors: os.Stderr}).Start(context.Background(), "idle"); err == nil {
			t.Errorf("%s: no error", name)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: left %v", name, left)
		}
	}
}
