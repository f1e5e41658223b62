package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"stallmark/cmd/stalldrill/undo"
	"stallmark/cmd/stalldrill/work"
)

// lateness is what the ticker prints.
type lateness struct {
	Interval string    `json:"interval"`
	Began    time.Time `json:"began"`
	Beats    uint64    `json:"beats"`
	Lost     uint64    `json:"lost"` // beats that began when the next was due, or later
	Late     work.Felt `json:"late"`
}

// runTicker wakes up at a fixed beat and does nothing: how late it is, is the
// machine's doing alone.
func runTicker(ctx context.Context, p *program, o *options, args []string) (int, error) {
	switch {
	case len(args) > 0:
		return exitUsage, errors.New("ticker takes no arguments")
	case o.interval <= 0 || o.duration < o.interval:
		return exitUsage, fmt.Errorf("--interval %v in --for %v: want at least one beat", o.interval, o.duration)
	}
	debug.SetGCPercent(-1)
	undo.LockPages()
	var late work.Histogram
	var lost uint64
	start := time.Now()
	work.Beat(ctx, start, o.interval, func(intended time.Time) bool {
		by := time.Since(intended)
		late.Add(by)
		if by >= o.interval {
			lost++
		}
		return time.Since(start) < o.duration
	})
	res := lateness{o.interval.String(), start.UTC(), late.Count(), lost, late.Felt()}
	if o.json {
		return exitOK, json.NewEncoder(p.stdout).Encode(res)
	}
	fmt.Fprintf(p.stdout, "ticker every %s: %d beats, %d lost, late p50 %s, p99 %s, max %s\n",
		res.Interval, res.Beats, res.Lost, res.Late.Text(res.Late.P50), res.Late.Text(res.Late.P99), res.Late.Text(res.Late.Max))
	return exitOK, nil
}
