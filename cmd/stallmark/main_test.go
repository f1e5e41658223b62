package main

import (
	"context"
	"os"
	"testing"
	"time"
)

// beStallmark in the environment makes the test binary the program itself, for
// make.
const beStallmark = "STALLMARK_TEST_BE_PROGRAM"

// TestMain lets the test binary be the child that serve starts from its own
// executable, or any run of the program.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childName || os.Getenv(beStallmark) != "" {
		p := &program{version: "test", stdout: os.Stdout, stderr: os.Stderr, now: time.Now}
		os.Exit(p.run(context.Background(), os.Args[1:]))
	}
	os.Exit(m.Run())
}
