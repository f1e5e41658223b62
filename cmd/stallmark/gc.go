package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"stallmark/collectors/jvm/gclog"
)

// gcWorst is how many of the longest pauses are listed.
const gcWorst = 10

func gcCommand() command {
	return command{
		name:    "gc",
		args:    "FILE...",
		summary: "Figures of garbage collection logs: pauses, safepoints, processor times, stalls",
		help: `
Reads the logs of HotSpot JVMs from JDK 5 on, of all collectors and with any
decorations, and tells the format from the content. A FILE may be compressed (.gz,
.zst), a folder, or - for standard input. The files of one rotated log (gc.log,
gc.log.0, gc.log.1.current ...) count as one; naming the one being written is
enough. What is in a folder and is no such log is passed over.

With --json each log is an object, an array of them for several logs. A figure
that a log cannot tell is null: ZGC prints its pauses with -Xlog:gc+phases only,
and no log prints safepoints without -Xlog:safepoint. A pause inside another one
is part of that one. Threads that wait for memory (allocation stalls) are counted
apart, since the others go on.

The class of a pause: blocked, 100 ms or more and over twice the processor time
(the collector waited for a disk, swap or a processor); sys-heavy, 50 ms of processor
time or more and most of it in the kernel; safepoint, a stop of 10 ms or more and
over half of it before the threads stood; work; unknown, without processor times.

Exit codes: 0 all of it was read; 2 usage, or a file that cannot be read or is no
such log (the others are printed).`,
		options: func(o *options) []option {
			return []option{
				{"json", "", "print the figures as JSON", (*toggle)(&o.json), true},
			}
		},
		run: func(ctx context.Context, p *program, o *options, args []string) (int, error) {
			if len(args) == 0 {
				return exitUsage, usagef("gc: name a log, a folder, or - for standard input")
			}
			return p.runGC(ctx, o, args)
		},
	}
}

func (p *program) runGC(ctx context.Context, o *options, args []string) (int, error) {
	sets, failed := gcSets(args)
	var logs []gcLog
	for _, set := range sets {
		if ctx.Err() != nil {
			return exitUsage, ctx.Err()
		}
		for _, note := range set.notes {
			fmt.Fprintf(p.stderr, "stallmark: %s\n", oneLine(note))
		}
		l, err := p.readGC(set)
		switch {
		case err != nil:
			failed = errors.Join(failed, err)
		case l.figures.Recognised():
		case set.named:
			failed = errors.Join(failed, fmt.Errorf("%s: no line of a garbage collection log in %s", set.name, plural(int(l.figures.Lines), "line")))
			continue
		}
		if l.figures != nil && l.figures.Recognised() {
			logs = append(logs, l)
		}
	}
	if failed == nil && len(logs) == 0 {
		failed = fmt.Errorf("%s: no garbage collection log in there", strings.Join(args, ", "))
	}
	if len(logs) > 0 {
		failed = errors.Join(failed, p.printGC(o, logs))
	}
	if failed != nil {
		return exitUsage, failed
	}
	return exitOK, nil
}

// printGC writes the figures of all logs.
func (p *program) printGC(o *options, logs []gcLog) error {
	if o.json {
		return writeJSON(p.stdout, logs)
	}
	for i, l := range logs {
		if i > 0 {
			fmt.Fprintln(p.stdout)
		}
		if err := writeGC(p.stdout, p.screen, l); err != nil {
			return err
		}
	}
	return nil
}

// gcLog is one log and what was read of it.
type gcLog struct {
	set     gcSet
	figures *gclog.Figures
	worst   []gclog.Pause // the longest first
	stops   []gclog.Safepoint
}

// readGC reads the files of one log one after the other.
func (p *program) readGC(set gcSet) (gcLog, error) {
	l := gcLog{set: set}
	parser := gclog.NewParser(gclog.Handler{Pause: l.pause, Safepoint: l.safepoint})
	l.figures = parser.Figures()
	var failed error
	for _, file := range set.files {
		err := p.eachGC(file, parser.Read)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", file, err))
		}
	}
	parser.Flush()
	return l, failed
}

// eachGC opens a log for a function that reads it.
func (p *program) eachGC(file string, read func(io.Reader) error) error {
	if file == "-" {
		return gcDecompressed(p.stdin, read)
	}
	f, err := openGC(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return gcDecompressed(f, read)
}

// openGC opens a regular file, and waits for nothing.
func openGC(file string) (*os.File, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, bareError(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("no regular file")
	}
	f, err := os.Open(file)
	return f, bareError(err)
}

// pause keeps the longest pauses.
func (l *gcLog) pause(p *gclog.Pause) {
	l.worst = keepLongest(l.worst, *p, func(a, b gclog.Pause) bool { return a.Duration > b.Duration })
}

// safepoint keeps the longest stops that no collection accounts for.
func (l *gcLog) safepoint(s *gclog.Safepoint) {
	if !s.GC || s.Dominated() {
		l.stops = keepLongest(l.stops, *s, func(a, b gclog.Safepoint) bool { return a.Total > b.Total })
	}
}

// keepLongest puts v in its place in a list of the longest; of equals the first
// stays first.
func keepLongest[T any](list []T, v T, longer func(a, b T) bool) []T {
	at := len(list)
	for at > 0 && longer(v, list[at-1]) {
		at--
	}
	if at >= gcWorst {
		return list
	}
	if len(list) < gcWorst {
		list = append(list, v)
	}
	copy(list[at+1:], list[at:])
	list[at] = v
	return list
}
