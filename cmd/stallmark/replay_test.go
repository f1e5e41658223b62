package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestDiagnoseStandardInput(t *testing.T) {
	want := runProgram(t, "diagnose", "--json", capturePath("m_idle"))
	in, err := os.Open(capturePath("m_idle"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var out, stderr bytes.Buffer
	p := &program{stdin: in, stdout: &out, stderr: &stderr, now: time.Now, screen: screen{width: 100}}
	if code := p.run(t.Context(), []string{"diagnose", "--json", "-"}); code != want.code || out.String() != want.stdout {
		t.Errorf("code %d, want %d; %s%s", code, want.code, firstDifference(out.String(), want.stdout), stderr.String())
	}
	p.stdin = strings.NewReader("hello")
	if code := p.run(t.Context(), []string{"diagnose", "-"}); code != exitUsage || !strings.Contains(stderr.String(), "nothing in it is known") {
		t.Errorf("code %d: %s", code, stderr.String())
	}
}

// A pipe that nobody opens for writing cannot be opened for reading; an
// interrupt ends the command all the same.
func TestDiagnoseIsInterruptedWhileItWaits(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	defer func() { // let the goroutine that opens it go
		if f, err := os.OpenFile(pipe, os.O_RDWR, 0); err == nil {
			f.Close()
		}
	}()
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New("interrupted")) })
	var out, stderr bytes.Buffer
	p := &program{stdout: &out, stderr: &stderr, now: time.Now, screen: screen{width: 100}}
	if code := p.run(ctx, []string{"diagnose", pipe}); code != exitUsage || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("code %d: %s", code, stderr.String())
	}
}
