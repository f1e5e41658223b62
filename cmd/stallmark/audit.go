package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"stallmark/collectors"
	"stallmark/collectors/files"
	"stallmark/rules"
	"stallmark/rules/audit"
	"stallmark/storage/model"
)

// auditBeats is how often the audit samples this host: the first beats find the
// processes, the next read them, one more tells what was read.
const auditBeats = 5

// auditLevels are the values of --fail-on.
func auditLevels() []string { return []string{string(audit.Advise), string(audit.Warn)} }

func auditCommand() command {
	level := string(audit.Warn)
	return command{
		name:    "audit",
		args:    "[PATH...]",
		summary: "Judge the settings of this host, its brokers and JVMs, before anything fails",
		help: `
Without a PATH it looks at this host for a few seconds. A PATH is a recording
made with "stallmark record". It changes nothing: it prints the commands, how to
keep and undo them, and what they risk. What this host does not have gets no
advice; what could not be read is said. A folder of --rules may have checks of
its own in a folder "audit".

Exit codes: 0 nothing at or above the level of --fail-on; 1 something is;
2 usage or unreadable input, or no setting could be read at all.`,
		options: func(o *options) []option {
			return []option{
				{"fail-on", "LEVEL", "exit with 1 from this level on: warn or advise", text(&level), true},
				{"json", "", "print the results as JSON; an array of them for several PATHs", (*toggle)(&o.json), true},
			}
		},
		run: func(ctx context.Context, p *program, o *options, args []string) (int, error) {
			if !slices.Contains(auditLevels(), level) {
				return exitUsage, usagef("--fail-on: %q: want warn or advise", level)
			}
			return p.runAudit(ctx, o, audit.State(level), args)
		},
	}
}

// audited is the results for one host or recording.
type audited struct {
	What    string
	At      time.Time
	Results []audit.Result
}

// MarshalJSON implements json.Marshaler.
func (a audited) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		What    string         `json:"what"`
		At      string         `json:"at"`
		Results []audit.Result `json:"results"`
	}{a.What, a.At.UTC().Format(model.JSONTime), a.Results})
}

func (p *program) runAudit(ctx context.Context, o *options, level audit.State, paths []string) (int, error) {
	checks, problems := audit.Load(o.rules...)
	for _, problem := range problems {
		fmt.Fprintf(p.stderr, "stallmark: rules: %s\n", oneLine(problem.String()))
	}
	var done []audited
	var failed error
	if len(paths) == 0 {
		a, err := p.auditHost(ctx, o, checks)
		if err != nil {
			return exitUsage, err
		}
		done = append(done, a)
	}
	for _, path := range paths {
		a, err := p.auditRecording(ctx, o, checks, path)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		done = append(done, a)
	}
	if len(done) > 0 {
		failed = errors.Join(failed, p.printAudit(o, done))
	}
	for _, a := range done {
		if !a.judged() {
			failed = errors.Join(failed, fmt.Errorf("%s: no setting could be read", a.What))
		}
	}
	if failed != nil {
		return exitUsage, failed
	}
	return auditCode(done, level), nil
}

// judged reports whether anything was: a host of which nothing could be read
// must not pass in a build.
func (a audited) judged() bool {
	return slices.ContainsFunc(a.Results, func(r audit.Result) bool { return r.State != audit.Unknown && r.State != audit.Absent })
}

// auditCode is 1 if a result is at or above the level.
func auditCode(list []audited, level audit.State) int {
	for _, a := range list {
		if slices.ContainsFunc(a.Results, func(r audit.Result) bool { return r.State.Reaches(level) }) {
			return exitFound
		}
	}
	return exitOK
}

// printAudit writes one list of results, or several.
func (p *program) printAudit(o *options, list []audited) error {
	if !o.json {
		for i, a := range list {
			if i > 0 {
				fmt.Fprintln(p.stdout)
			}
			if err := writeAudit(p.stdout, p.screen, a); err != nil {
				return err
			}
		}
		return nil
	}
	return writeJSON(p.stdout, list)
}

// auditHost looks at this host for a few beats.
func (p *program) auditHost(ctx context.Context, o *options, checks *audit.Pack) (audited, error) {
	root := liveRoot(o)
	m := thisMachine(o, root)
	a := newAnalysis(&rules.Pack{}, o.interval)
	sampler, err := collectors.New(collectors.Config{
		Root: root, Sources: m.sources(), Sink: a.store, Interval: o.interval, Now: p.now,
		AfterBeat: func(_ context.Context, at time.Time) { a.last = at.Truncate(time.Millisecond) },
	})
	if err != nil {
		return audited{}, err
	}
	watch := auditBeats * o.interval
	fmt.Fprintf(p.stderr, "looking at %s for %v ...\n", oneLine(m.hostname), watch)
	limited, cancel := context.WithTimeout(ctx, watch+o.interval/2)
	defer cancel()
	if err := sampler.Run(limited); err != nil && limited.Err() == nil {
		return audited{}, err
	}
	return a.audit(ctx, checks, m.title(), o.interval)
}

// auditRecording judges the settings at the end of a recording.
func (p *program) auditRecording(ctx context.Context, o *options, checks *audit.Pack, path string) (audited, error) {
	rec, err := files.Open(path, files.DefaultLimits())
	if err != nil {
		return audited{}, err
	}
	defer rec.Close()
	m := recordedMachine(rec.Meta(), o.watch)
	a := newAnalysis(&rules.Pack{}, rec.Meta().Interval())
	if err := a.run(ctx, rec, m, rules.NewBaselines(), nil); err != nil {
		return audited{}, fmt.Errorf("%s: %w", path, err)
	}
	what := path
	if m.hostname != "" {
		what += ": " + m.title()
	}
	return a.audit(ctx, checks, what, rec.Meta().Interval())
}

// audit judges the newest beat.
func (a *analysis) audit(ctx context.Context, checks *audit.Pack, what string, interval time.Duration) (audited, error) {
	if a.last.IsZero() {
		return audited{}, fmt.Errorf("%s: no beat was taken", what)
	}
	results, err := checks.Run(ctx, a.store, rules.NewQuery(a.store, interval), a.last)
	return audited{what, a.last, results}, err
}
