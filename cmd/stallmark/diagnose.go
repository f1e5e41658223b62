package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"stallmark/collectors"
	"stallmark/collectors/files"
	"stallmark/rules"
	"stallmark/storage/model"
)

// defaultWatch is how long a live diagnosis watches.
const defaultWatch = 15 * time.Second

func diagnoseCommand() command {
	return command{
		name:    "diagnose",
		args:    "[PATH...]",
		summary: "Say why this host stalls, now or in a recording",
		help: `
Without a PATH it watches this host for a while (--for) and gives its verdict.
A PATH is a recording made with "stallmark record", a folder with one in it, or
"-" for one on standard input; each gets a report of its own. Anything else is
read as text, all of it together: output of vmstat, iostat, sar, free and top,
copies of /proc, stacks, kernel logs, logs of brokers and GC logs of their JVMs,
in any mixture, plain or in tar, zip, gz or zst. Lines of logs that were written
while a recording was made are judged together with it. Lines of a kernel that
count from its boot ("dmesg" without -T) have a time with --boot.

Exit codes: 0 nothing found; 1 findings; 2 usage or unreadable input;
3 nothing found, but a critical kernel cause could not be judged for want of
evidence.`,
		options: func(o *options) []option {
			o.duration = defaultWatch
			return []option{
				{"for", "TIME", "how long to watch this host", (*period)(&o.duration), true},
				{"zone", "ZONE", "zone of times that name none, or NAME=ZONE for files of a name; may be repeated", (*list)(&o.zones), true},
				{"boot", "TIME", "when the host started, for lines of its kernel that count from then: 2026-01-02T03:04:05Z, or the seconds of btime in /proc/stat", text(&o.boot), true},
				{"markdown", "", "print each incident as Markdown, as the draft of a post-mortem", (*toggle)(&o.markdown), true},
				{"verbose", "", "say of each cause that could not be judged why", (*toggle)(&o.verbose), true},
				{"json", "", "print the report as JSON; an array of them for several PATHs", (*toggle)(&o.json), true},
			}
		},
		run: runDiagnose,
	}
}

// diagnosis is a report and what it is about.
type diagnosis struct {
	what     string
	report   model.Report
	markdown string // if it was asked for
	joined   bool   // all texts that were given are judged in it
}

func runDiagnose(ctx context.Context, p *program, o *options, args []string) (int, error) {
	if o.json && o.markdown {
		return exitUsage, usagef("say --json or --markdown, not both")
	}
	if len(args) > 0 && o.set["for"] {
		return exitUsage, usagef("--for is for watching this host, not for recordings")
	}
	if len(args) == 0 && (o.set["zone"] || o.set["boot"]) {
		return exitUsage, usagef("--zone and --boot are for texts: name the files")
	}
	var err error
	if o.told, err = readTold(o); err != nil {
		return exitUsage, err
	}
	pack := p.loadRules(o)
	if len(args) == 0 {
		d, err := p.watch(ctx, o, pack)
		if err != nil {
			return exitUsage, err
		}
		return exitCode(d.report), p.print(o, []diagnosis{d})
	}
	var done []diagnosis
	code := exitOK
	texts := files.NewBundle(files.DefaultBundleLimits())
	texts.Sift = siftLines(o.rules)
	names, failed := p.gatherTexts(texts, args)
	joined := false
	for _, path := range args {
		if slices.Contains(names, path) {
			continue
		}
		d, isSnapshot, err := p.replaySnapshot(ctx, o, pack, path)
		if !isSnapshot {
			d, err = p.replay(ctx, o, pack, path, texts)
			joined = joined || d.joined
		}
		if errors.Is(err, files.ErrNotRecording) {
			names = append(names, path)
			failed = errors.Join(failed, p.gather(texts, path))
			continue
		}
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		done = append(done, d)
		code = worse(code, exitCode(d.report))
	}
	if len(names) > 0 && !joined {
		d, err := p.triage(ctx, o, pack, strings.Join(names, ", "), texts)
		if failed = errors.Join(failed, err); err == nil {
			done = append(done, d)
			code = worse(code, exitCode(d.report))
		}
	}
	if len(done) > 0 {
		failed = errors.Join(failed, p.print(o, done))
	}
	if failed != nil {
		code = exitUsage
	}
	return code, failed
}

// worse merges the exit codes of several recordings: findings go before
// unknown causes, those before nothing.
func worse(a, b int) int {
	switch {
	case a == exitFound || b == exitFound:
		return exitFound
	case a == exitUnknown || b == exitUnknown:
		return exitUnknown
	}
	return exitOK
}

func exitCode(r model.Report) int {
	if len(r.Findings) > 0 {
		return exitFound
	}
	for _, u := range r.Unknown {
		if u.Blinds() {
			return exitUnknown
		}
	}
	return exitOK
}

// print writes one report, or several.
func (p *program) print(o *options, list []diagnosis) error {
	if !o.json {
		for i, d := range list {
			if i > 0 {
				fmt.Fprintln(p.stdout)
			}
			if o.markdown {
				if _, err := io.WriteString(p.stdout, d.markdown); err != nil {
					return err
				}
				continue
			}
			if err := writeText(p.stdout, p.screen.saying(o.verbose), d.what, d.report); err != nil {
				return err
			}
		}
		return nil
	}
	reports := make([]model.Report, len(list))
	for i, d := range list {
		reports[i] = d.report
	}
	return writeJSON(p.stdout, reports)
}

// writeJSON writes what was asked about one path as an object, and about
// several as a list.
func writeJSON[T any](w io.Writer, list []T) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if len(list) == 1 {
		return enc.Encode(list[0])
	}
	return enc.Encode(list)
}

// watch samples this host for a while. An interrupt ends it early; the report
// is about what was seen until then.
func (p *program) watch(ctx context.Context, o *options, pack *rules.Pack) (diagnosis, error) {
	root := liveRoot(o)
	m := thisMachine(o, root)
	m.logs = p.followLogs(o, m, root, nil)
	a := newAnalysis(pack, o.interval)
	sources, waits, _ := m.traced()
	defer waits.Close()
	sources = append(sources, newBaselineSource(p.loadBaselines("baselines", baselinesOf(ctx, o))))
	var stepErr error
	sampler, err := collectors.New(collectors.Config{
		Root: root, Sources: sources, Sink: a.store, Interval: o.interval, Now: p.now,
		AfterBeat: func(ctx context.Context, at time.Time) {
			if err := a.step(ctx, at.Truncate(time.Millisecond)); err != nil && ctx.Err() == nil {
				stepErr = err
			}
		},
	})
	if err != nil {
		return diagnosis{}, err
	}
	fmt.Fprintf(p.stderr, "watching %s for %v ...\n", oneLine(m.hostname), o.duration)
	limited, cancel := context.WithTimeout(ctx, o.duration+o.interval/2)
	defer cancel()
	go m.logs.run(limited)
	if err := sampler.Run(limited); err != nil && limited.Err() == nil {
		return diagnosis{}, err
	}
	if a.last.IsZero() {
		return diagnosis{}, errors.New("no beat was taken in that time")
	}
	d, err := a.diagnosis(context.WithoutCancel(ctx), p, o, m.title(), m.hostname)
	return d, errors.Join(stepErr, err)
}

// diagnosis is the verdict, and its Markdown if that is asked for.
func (a *analysis) diagnosis(ctx context.Context, p *program, o *options, what, host string) (diagnosis, error) {
	report, err := a.report(ctx)
	return a.shown(ctx, p, o, diagnosis{what: what, report: report}, host, err)
}

// shown adds the Markdown to a diagnosis.
func (a *analysis) shown(ctx context.Context, p *program, o *options, d diagnosis, host string, err error) (diagnosis, error) {
	if o.markdown {
		var failed error
		d.markdown, failed = a.markdown(ctx, p, host, d.report)
		err = errors.Join(err, failed)
	}
	return d, err
}

// title names a host in a report.
func (m machine) title() string {
	name := m.hostname
	if name == "" {
		name = "host"
	}
	if m.kernel != "" {
		name += " (Linux " + m.kernel + ")"
	}
	return name
}
