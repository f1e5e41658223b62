package main

import (
	"context"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

func TestNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		begun := time.Now()
		var at []time.Duration
		nowAndThen(ctx, func() { at = append(at, time.Since(begun)) })
		if len(at) != 3 || at[0] != shrinkFirst || at[2]-at[1] != shrinkEvery {
			t.Error(at)
		}
	})
}

// TestFreeMemory holds that pages come back from a process that has locked them.
func TestFreeMemory(t *testing.T) {
	if lockMemory() != "" {
		t.Skip("no permission to lock memory")
	}
	t.Cleanup(func() { _ = unix.Munlockall() })
	big := make([]byte, 64<<20)
	for i := 0; i < len(big); i += 4096 {
		big[i] = 1
	}
	before := resident(t)
	runtime.KeepAlive(big)
	if why := freeMemory(true); why != "" {
		t.Fatal(why)
	}
	if after := resident(t); after > before-32<<20 {
		t.Errorf("resident before %.0f MB, after %.0f", before/1e6, after/1e6)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil || strings.Contains(string(status), "VmLck:\t       0 kB") {
		t.Errorf("nothing is locked afterwards, %v", err)
	}
}

func resident(t *testing.T) float64 {
	t.Helper()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip(err)
	}
	n, err := residentPages(b)
	if err != nil {
		t.Fatal(err)
	}
	return n * float64(os.Getpagesize())
}
