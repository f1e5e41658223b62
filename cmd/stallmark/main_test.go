package main

import (
	"context"
	"os"
	"testing"
	"time"
)

// TestMain lets the test binary be the child that serve starts from its own
// executable.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childName {
		p := &program{version: "test", stdout: os.Stdout, stderr: os.Stderr, now: time.Now}
		os.Exit(p.run(context.Background(), os.Args[1:]))
	}
	os.Exit(m.Run())
}
