package logs

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestSeveralFoldersOverRestarts stops and starts a follower of three folders and
// drops and takes up one of them in between: every line comes once.
func TestSeveralFoldersOverRestarts(t *testing.T) {
	root := t.TempDir()
	names := []string{"a", "b", "c"}
	for _, n := range names {
		must(t, os.MkdirAll(filepath.Join(root, n), 0o700))
		must(t, os.WriteFile(filepath.Join(root, n, "x.log"), []byte("there before\n"), 0o600))
	}
	got := &census{seen: map[string]int{}}
	var saved []Position
	written := 0
	targets := func(which ...string) []Target {
		var list []Target
		for _, n := range which {
			list = append(list, Target{Folder: filepath.Join(root, n), Names: []string{"*.log"}})
		}
		return list
	}
	for round := range 4 {
		f := New(Config{Open: func(*File) Consumer { return got }, Now: time.Now, Saved: saved})
		f.SetTargets(targets(names[:2+round%2]...))
		ctx, cancel := context.WithCancel(t.Context())
		var done sync.WaitGroup
		done.Go(func() { f.Run(ctx) })
		until(t, func() bool {
			states, _ := f.Status()
			return len(states) == 2+round%2 && !slices.ContainsFunc(states, func(s Status) bool { return !s.Found })
		})
		for _, n := range names[:2] {
			appendTo(t, filepath.Join(root, n, "x.log"), fmt.Sprintf("%s %d\n", n, round))
			written++
		}
		until(t, func() bool { return got.count() >= written })
		cancel()
		done.Wait()
		data, err := EncodeState(f.Positions())
		must(t, err)
		saved, err = DecodeState(data)
		must(t, err)
		if len(saved) != min(2+round, 3) {
			t.Errorf("round %d: %d positions: %+v", round, len(saved), saved)
		}
	}
	for line, n := range got.seen {
		if n != 1 {
			t.Errorf("%q came %d times", line, n)
		}
	}
	if all := slices.Sorted(maps.Keys(got.seen)); len(all) != written {
		t.Errorf("lines %s", strings.Join(all, ", "))
	}
}

// TestTwoTargetsInOneFolderOverARestart has a broker's log and its GC log side by side:
// each goes on where it was.
func TestTwoTargetsInOneFolderOverARestart(t *testing.T) {
	root := t.TempDir()
	logs := []string{"server.log", "kafkaServer-gc.log", "journal.export"}
	for _, n := range logs {
		must(t, os.WriteFile(filepath.Join(root, n), []byte("there before\n"), 0o600))
	}
	got := &census{seen: map[string]int{}}
	var saved []Position
	for round := range 3 {
		for _, n := range logs { // in the first round they are there before, later nobody reads
			appendTo(t, filepath.Join(root, n), fmt.Sprintf("%s %d\n", n, round))
		}
		f := New(Config{Open: func(*File) Consumer { return got }, Now: time.Now, Saved: saved})
		f.SetTargets([]Target{
			{Folder: root, Names: []string{"*.log"}, Except: []string{"*gc*.log"}},
			{Folder: root, Names: []string{"kafkaServer-gc.log"}, Kind: KindGC},
			{Folder: root, Names: []string{"journal.export"}},
		})
		ctx, cancel := context.WithCancel(t.Context())
		var done sync.WaitGroup
		done.Go(func() { f.Run(ctx) })
		until(t, func() bool {
			states, _ := f.Status()
			return len(states) == 3 && !slices.ContainsFunc(states, func(s Status) bool { return !s.Found })
		})
		until(t, func() bool { return got.count() >= 3*round })
		cancel()
		done.Wait()
		saved = f.Positions()
		if len(saved) != 3 {
			t.Errorf("round %d: positions %+v", round, saved)
		}
	}
	for round := 1; round < 3; round++ {
		for _, n := range logs {
			if line := fmt.Sprintf("%s %d", n, round); got.seen[line] != 1 {
				t.Errorf("%q came %d times", line, got.seen[line])
			}
		}
	}
}
