package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"stallmark/cmd/stalldrill/undo"
	"stallmark/cmd/stalldrill/work"
)

// runWork is a worker process of a drill.
func runWork(_ context.Context, p *program, _ *options, _ []string) (int, error) {
	return exitOK, work.Run(p.host, p.stdin, p.stdout, p.stderr)
}

// runGuard is the guard process of a drill.
func runGuard(_ context.Context, p *program, _ *options, args []string) (int, error) {
	if len(args) != 1 {
		return exitUsage, errors.New("guard wants the path of a journal")
	}
	return exitOK, undo.RunGuard(p.host, args[0], p.stderr)
}

// runRestore does by hand what the guard could not do.
func runRestore(_ context.Context, p *program, _ *options, args []string) (int, error) {
	if len(args) != 1 {
		return exitUsage, errors.New("name the folder that the drill has left")
	}
	lock, err := undo.Lock(p.host.Lock)
	if err != nil {
		return exitUsage, err
	}
	defer lock.Close()
	folder, err := filepath.Abs(args[0])
	if err != nil {
		return exitUsage, err
	}
	entries, err := undo.Read(filepath.Join(folder, undo.StateFile))
	if err != nil {
		return exitUsage, err
	}
	out := undo.Undo(p.host, entries)
	for _, d := range out.Done {
		fmt.Fprintln(p.stdout, "restored", d)
	}
	for _, problem := range out.Problems {
		fmt.Fprintln(p.stderr, "NOT restored:", problem)
	}
	if len(out.Problems) > 0 {
		return exitRestored, nil
	}
	return exitOK, nil
}
