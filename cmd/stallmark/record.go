package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"stallmark/collectors"
	"stallmark/collectors/files"
	"stallmark/collectors/process"
)

// defaultRecord is how long a recording is unless said otherwise.
const defaultRecord = 60 * time.Second

func recordCommand() command {
	return command{
		name:    "record",
		args:    "-o FILE",
		summary: "Record what the kernel says, to be diagnosed elsewhere or later",
		help: `
FILE becomes a .tar.zst of the files under /proc and /sys that Stallmark reads,
and of what the brokers write into their logs meanwhile, one folder a beat.
"stallmark diagnose FILE" replays it. Environments and
configuration files are not recorded, and of command lines only the arguments
that say what a broker is and how its memory is set. What a service on this
host (--listen) has learned of quiet hours goes into it. An interrupt ends the
recording; so does kill -9, with the last whole beat.`,
		options: func(o *options) []option {
			o.duration = defaultRecord
			return []option{
				{"o", "FILE", "the recording, which must not exist yet", text(&o.output), true},
				{"for", "TIME", "how long to record", (*period)(&o.duration), true},
			}
		},
		run: runRecord,
	}
}

func runRecord(ctx context.Context, p *program, o *options, args []string) (int, error) {
	switch {
	case len(args) > 0:
		return exitUsage, usagef("record takes no arguments besides its options")
	case o.output == "":
		return exitUsage, usagef("record needs -o FILE")
	}
	f, err := os.OpenFile(o.output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return exitUsage, err
	}
	err = errors.Join(p.record(ctx, o, f), f.Close())
	if err != nil {
		return exitUsage, err
	}
	return exitOK, nil
}

// record samples into a recording for as long as is asked for.
func (p *program) record(ctx context.Context, o *options, f *os.File) error {
	live := liveRoot(o)
	m := thisMachine(o, live)
	m.thorough = true
	m.logs = p.followLogs(o, m, live, nil)
	meta := m.meta(p.version, o.interval)
	meta.Baselines = baselinesOf(ctx, o)
	w, err := files.NewWriter(f, files.WriterConfig{Meta: meta, Root: live, Filter: process.Recordable})
	if err != nil {
		return err
	}
	sampler, err := collectors.New(collectors.Config{
		Root: w, Sources: m.sources(), Sink: w, Interval: o.interval, Now: p.now,
		AfterBeat: func(_ context.Context, at time.Time) {
			if err := m.logs.capture.Put(w.Put); err != nil {
				fmt.Fprintf(p.stderr, "stallmark: %s\n", oneLine(err.Error()))
			}
			w.Commit(at)
		},
	})
	if err != nil {
		return errors.Join(err, w.Close())
	}
	fmt.Fprintf(p.stderr, "recording %s for %v ...\n", oneLine(m.hostname), o.duration)
	limited, cancel := context.WithTimeout(ctx, o.duration+o.interval/2)
	defer cancel()
	go m.logs.run(limited)
	if err := sampler.Run(limited); err != nil && limited.Err() == nil {
		return errors.Join(err, w.Close())
	}
	err = w.Close()
	ticks, lost := w.Ticks()
	fmt.Fprintf(p.stderr, "%d beats in %s\n", ticks, oneLine(o.output))
	if lost > 0 {
		err = errors.Join(err, fmt.Errorf("%d beats were lost: the disk was too slow", lost))
	}
	return err
}

// meta is what a replay must know about this host.
func (m machine) meta(version string, interval time.Duration) files.Meta {
	return files.Meta{
		Stallmark: version, IntervalMS: interval.Milliseconds(), Hostname: m.hostname, Kernel: m.kernel,
		PageSize: m.pageSize, ClockTicks: m.clockTicks, Watch: m.watch,
	}
}
