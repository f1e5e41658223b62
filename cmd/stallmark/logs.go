package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"stallmark/collectors"
	"stallmark/collectors/jvm"
	"stallmark/collectors/logs"
	"stallmark/collectors/logs/match"
	"stallmark/collectors/process"
	"stallmark/rules"
	"stallmark/rules/patterns"
)

// following is how a run gets log lines: from files that are written to, or from
// a recording.
type following struct {
	source   *logs.Source
	follower *logs.Follower // nil in a replay
	kernel   *logs.Kernel   // nil in a replay
	capture  *logs.Capture  // nil unless it is recorded
	named    []logs.Target  // by the user
	pauses   *jvm.PauseBook
}

// lineKinds reads the log patterns and those of the user. Mistakes in them
// are said; what has none is used.
func (p *program) lineKinds(dirs []string) logs.SourceConfig {
	pack, problems := patterns.Load(dirs...)
	for _, problem := range rules.Mistakes(problems) {
		fmt.Fprintf(p.stderr, "stallmark: patterns: %s\n", oneLine(problem.String()))
	}
	set, err := match.New(pack.Patterns)
	if err != nil {
		fmt.Fprintf(p.stderr, "stallmark: patterns: %s\n", oneLine(err.Error()))
	}
	return logs.SourceConfig{Patterns: set, Known: pack.Patterns}
}

// followLogs makes what follows the logs of this host.
func (p *program) followLogs(o *options, m machine, root collectors.Root, saved []logs.Position) *following {
	cfg := p.lineKinds(o.rules)
	cfg.Host, cfg.Boot, cfg.Now, cfg.ClockTicks = time.Local, logs.BootTime(root), p.now, m.clockTicks
	cfg.Pauses = jvm.NewPauseBook()
	f := &following{source: logs.NewSource(cfg), named: o.logTargets(), pauses: cfg.Pauses}
	fc := logs.Config{
		Open: f.source.Open, Close: f.source.Close, Files: m.logFiles, Rootfs: o.paths.Rootfs, Now: p.now, Saved: saved, Alert: m.alert,
		Rate: logs.DefaultRate,
	}
	if m.thorough { // to be recorded
		f.capture = &logs.Capture{}
		fc.Tap = f.capture.Tap
	}
	fc.Boot = cfg.Boot
	f.follower = logs.New(fc)
	f.kernel = logs.NewKernel(filepath.Join(o.paths.Rootfs, "dev/kmsg"), cfg.Boot, f.source.Open, fc.Tap)
	f.source.FollowKernel(f.kernel)
	return f
}

// replayLogs makes what reads the logs of a recording.
func (p *program) replayLogs(dirs []string) *following {
	cfg := p.lineKinds(dirs)
	cfg.Pauses = jvm.NewPauseBook()
	f := &following{source: logs.NewSource(cfg), pauses: cfg.Pauses}
	f.source.Replay()
	return f
}

// connect tells whose logs to follow.
func (f *following) connect(watched *process.Watched) {
	if f.follower != nil {
		f.source.Follow(f.follower, logs.NewDiscovery(watched.Processes, f.named))
	}
}

// run follows until ctx ends.
func (f *following) run(ctx context.Context) {
	go f.kernel.Run(ctx)
	f.follower.Run(ctx)
}

// saveEvery is how often the positions in the logs are saved. Lines of this long
// before a kill are read twice.
const saveEvery = 2 * time.Second

// stateFile holds the positions in the logs.
func stateFile(data string) string { return filepath.Join(data, "logs.state") }

// runSaving follows until ctx ends and keeps in a file how far.
func (f *following) runSaving(ctx context.Context, file string, log *slog.Logger) {
	var both sync.WaitGroup
	both.Go(func() { f.run(ctx) })
	ticker := time.NewTicker(saveEvery)
	defer ticker.Stop()
	var last []byte
	save := func() {
		data, err := logs.EncodeState(f.follower.Positions())
		if err == nil && !bytes.Equal(data, last) {
			err = logs.SaveState(file, data)
			last = data
		}
		if err != nil {
			log.Warn("positions in the logs could not be saved: after a restart they are followed from their ends", "error", err)
		}
	}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-ticker.C:
			save()
		}
	}
	both.Wait()
	save()
}

// savedLogs reads the positions of the last run. What is damaged is said and
// does without.
func (s *service) savedLogs() []logs.Position {
	saved, err := logs.LoadState(stateFile(s.options.data))
	if err != nil {
		s.log.Warn("logs are followed from their ends, since the positions of the last run cannot be read", "error", err)
	}
	return saved
}

// logTargets are the logs that the user has named; check has seen them.
func (o *options) logTargets() []logs.Target {
	var list []logs.Target
	for _, text := range o.logs {
		if t, err := parseLogOption(text); err == nil {
			list = append(list, t)
		}
	}
	return list
}

// parseLogOption reads "PATH[,zone=ZONE][,format=FORMAT][,kind=KIND]".
func parseLogOption(text string) (logs.Target, error) {
	var t logs.Target
	rest := text
	for {
		at := strings.LastIndexByte(rest, ',')
		key, value, ok := strings.Cut(rest[at+1:], "=")
		if at < 0 || !ok || !slices.Contains([]string{"zone", "format", "kind"}, key) {
			break
		}
		if err := setLog(&t, key, value); err != nil {
			return t, err
		}
		rest = rest[:at]
	}
	if !path.IsAbs(rest) || strings.HasSuffix(rest, "/") {
		return t, errors.New("want an absolute path, * allowed, and behind it zone=, format= or kind= after commas")
	}
	if _, err := path.Match(rest, ""); err != nil {
		return t, fmt.Errorf("%s: %w", rest, err)
	}
	t.Folder, t.Names = path.Dir(rest), []string{path.Base(rest)}
	if t.Kind == "" {
		t.Kind = logs.KindText
	}
	return t, nil
}

func setLog(t *logs.Target, key, value string) error {
	switch key {
	case "zone":
		if _, err := logs.ParseZone(value); err != nil {
			return fmt.Errorf("zone %q: want one as in Asia/Shanghai, UTC or +08:00", value)
		}
		t.Zone = value
	case "format":
		f, err := logs.ParseFormat(value)
		if err != nil {
			return err
		}
		t.Format = f
	case "kind":
		kind := logs.Kind(value)
		if !slices.Contains([]logs.Kind{logs.KindText, logs.KindGC, logs.KindKernel}, kind) {
			return fmt.Errorf("kind %q: want text, gc or kernel", value)
		}
		t.Kind = kind
	}
	return nil
}
