package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"stallmark/cmd/stalldrill/drill"
)

// options is everything that can be set.
type options struct {
	duration    time.Duration // --for
	before      time.Duration
	gap         time.Duration
	interval    time.Duration
	dir         string
	yes         bool
	json        bool
	maxDisk     size
	leaveDisk   size
	leaveMemory size

	// Of the matrix.
	times      int
	stallmark  string
	recordings string
	results    string
	aside      wordList
}

// longest is how long a drill may last.
const longest = 10 * time.Minute

func newOptions() (*options, *flag.FlagSet) {
	o := &options{leaveDisk: size(drill.DefaultLimits(0).LeaveDisk)}
	flags := flag.NewFlagSet("stalldrill", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.DurationVar(&o.duration, "for", 20*time.Second, "`TIME` that a drill or the ticker lasts")
	flags.DurationVar(&o.before, "before", 3*time.Second, "quiet `TIME` before a drill, measured for comparison")
	flags.DurationVar(&o.gap, "gap", 10*time.Second, "`TIME` between two drills")
	flags.DurationVar(&o.interval, "interval", time.Second, "`TIME` between the ticker's beats")
	flags.StringVar(&o.dir, "dir", os.TempDir(), "`DIR` on the disk to be stressed; a folder is made in it and removed")
	flags.BoolVar(&o.yes, "yes", false, "yes, stall this machine")
	flags.BoolVar(&o.json, "json", false, "print a line of JSON for each mode")
	flags.Var(&o.maxDisk, "max-disk", "`SIZE` that files may take at most; without it a third of what is free")
	flags.Var(&o.leaveDisk, "leave-disk", "`SIZE` that stays free on the disk")
	flags.Var(&o.leaveMemory, "leave-memory", "`SIZE` of available memory that stays for others; without it a quarter, at least 1GiB")
	flags.IntVar(&o.times, "times", 3, "matrix: run each drill `N` times; 0 only prints --results")
	flags.StringVar(&o.stallmark, "stallmark", "stallmark", "matrix: the recorder's `PROGRAM`")
	flags.StringVar(&o.recordings, "recordings", "", "matrix: keep a recording of each wrong verdict in `DIR`")
	flags.StringVar(&o.results, "results", "", "matrix: go on from the verdicts in `FILE`, and append to it")
	flags.Var(&o.aside, "aside", "matrix: `SIGNATURES` that others on this machine may earn meanwhile, as in cpu-saturation")
	return o, flags
}

// limits are what the options leave to others.
func (o *options) limits(total int64) drill.Limits {
	l := drill.DefaultLimits(total)
	l.MaxDisk, l.LeaveDisk = int64(o.maxDisk), int64(o.leaveDisk)
	if o.leaveMemory > 0 {
		l.LeaveMemory = int64(o.leaveMemory)
	}
	return l
}

// check finds mistakes in the times.
func (o *options) check() error {
	switch {
	case o.duration <= 0 || o.duration > longest:
		return fmt.Errorf("--for %v: want more than 0 and at most %v", o.duration, longest)
	case o.before < 0 || o.before > longest:
		return fmt.Errorf("--before %v: want 0 to %v", o.before, longest)
	case o.gap < 0:
		return fmt.Errorf("--gap %v: want 0 or more", o.gap)
	}
	return nil
}

// size is a number of bytes, as in 512MiB or 6GiB.
type size int64

// Set implements flag.Value.
func (v *size) Set(s string) error {
	for _, u := range []struct {
		suffix string
		factor int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}} {
		number, ok := strings.CutSuffix(s, u.suffix)
		if n, err := strconv.ParseInt(number, 10, 64); ok && err == nil && n > 0 && n < 1<<20 {
			*v = size(n * u.factor)
			return nil
		}
	}
	return fmt.Errorf("want a size as in 512MiB or 6GiB")
}

func (v *size) String() string {
	if v == nil || *v == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*v)>>20, 10) + "MiB"
}
