package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stallmark/cmd/stalldrill/drill"
	"stallmark/cmd/stalldrill/undo"
)

// runModes runs the named modes.
func runModes(ctx context.Context, p *program, o *options, args []string) (int, error) {
	if len(args) == 0 {
		return exitUsage, errors.New("name a mode: see stalldrill list")
	}
	modes, err := namedModes(args)
	if err != nil {
		return exitUsage, err
	}
	return p.drills(ctx, o, modes)
}

// namedModes finds modes by name.
func namedModes(names []string) ([]drill.Mode, error) {
	all := drill.Modes()
	var modes []drill.Mode
	for _, name := range names {
		i := slices.IndexFunc(all, func(m drill.Mode) bool { return m.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no mode %q: see stalldrill list", name)
		}
		modes = append(modes, all[i])
	}
	return modes, nil
}

// runAll runs every mode; one that cannot run here is named and passed over.
func runAll(ctx context.Context, p *program, o *options, args []string) (int, error) {
	if len(args) > 0 {
		return exitUsage, errors.New("all takes no modes: use run")
	}
	memory, err := p.host.ReadMemory()
	if err != nil {
		return exitUsage, err
	}
	return p.drills(ctx, o, p.possibleModes(o, memory.Total))
}

// possibleModes are those that can run here; the others are named with the
// reason.
func (p *program) possibleModes(o *options, total int64) []drill.Mode {
	var modes []drill.Mode
	for _, m := range drill.Modes() {
		if err := drill.Possible(p.host, m, o.dir, o.limits(total)); err != nil {
			fmt.Fprintf(p.stderr, "%s: not here: %v\n", m.Name, err)
			continue
		}
		modes = append(modes, m)
	}
	return modes
}

// drillConfig is how drills are run.
func (p *program) drillConfig(o *options, lock *os.File) (drill.Config, error) {
	undo.LockPages()
	memory, err := p.host.ReadMemory()
	return drill.Config{
		Host: p.host, Dir: o.dir, For: o.duration, Before: o.before,
		Limits: o.limits(memory.Total), Program: p.program, Lock: lock,
		Log: func(format string, args ...any) { fmt.Fprintf(p.stderr, format+"\n", args...) },
	}, err
}

// drills runs modes one after another. The worst exit code counts.
func (p *program) drills(ctx context.Context, o *options, modes []drill.Mode) (int, error) {
	if err := p.consent(o); err != nil {
		return exitUsage, err
	}
	lock, err := undo.Lock(p.host.Lock)
	if err != nil {
		return exitUsage, err
	}
	defer lock.Close()
	config, err := p.drillConfig(o, lock)
	if err != nil {
		return exitUsage, err
	}
	code := exitOK
	for i, m := range modes {
		if i > 0 {
			pause(ctx, o.gap)
		}
		if ctx.Err() != nil {
			return max(code, exitNot), errors.New("interrupted")
		}
		code = max(code, p.one(ctx, config, o, m))
	}
	return code, nil
}

// one runs a mode and prints what came of it.
func (p *program) one(ctx context.Context, c drill.Config, o *options, m drill.Mode) int {
	res, err := drill.Run(ctx, c, m)
	if err != nil {
		res.Errors = append(res.Errors, err.Error())
	}
	if o.json {
		_ = json.NewEncoder(p.stdout).Encode(res)
	} else {
		res.Print(p.stdout)
	}
	switch {
	case len(res.Restored.Problems) > 0:
		return exitRestored
	case err != nil:
		return exitUsage
	case !res.Provoked || res.Cut != "" || len(res.Errors) > 0:
		return exitNot
	}
	return exitOK
}

// consent refuses what nobody has agreed to, and a folder in which an earlier
// drill was left: its journal knows the machine's own settings, we would not.
func (p *program) consent(o *options) error {
	if err := o.check(); err != nil {
		return err
	}
	if !o.yes {
		return errors.New("this stalls the machine for everybody on it: say --yes if that is meant")
	}
	left, _ := filepath.Glob(filepath.Join(o.dir, undo.FolderPrefix+"*", undo.StateFile))
	if len(left) > 0 {
		return fmt.Errorf("an earlier drill was not taken back: stalldrill restore %s", strings.TrimSuffix(left[0], string(os.PathSeparator)+undo.StateFile))
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
