package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"stallmark/cmd/stalldrill/drill"
	"stallmark/cmd/stalldrill/matrix"
	"stallmark/cmd/stalldrill/undo"
)

// warm is how long a recorder watches before a drill: its rules look back.
const warm = 5 * time.Second

// preparing is how much longer than the drill a recording lasts.
const preparing = 3 * time.Minute

// runMatrix runs drills beside live recorders and prints what was provoked
// against what was said, now and in earlier pieces.
func runMatrix(ctx context.Context, p *program, o *options, args []string) (code int, err error) {
	if o.times < 0 || o.times > 100 || o.times == 0 && o.results == "" {
		return exitUsage, fmt.Errorf("--times %d: want 1 to 100, or 0 with --results", o.times)
	}
	results := &matrix.Results{}
	if o.results != "" {
		if results, err = matrix.OpenResults(o.results); err != nil {
			return exitUsage, err
		}
		defer func() { err = errors.Join(err, results.Close()) }()
	}
	var m matrix.Matrix
	if o.times > 0 {
		if m, err = p.matrix(ctx, o, args, results); err != nil && len(m) == 0 {
			return exitUsage, err
		}
	}
	return p.printMatrix(o, append(results.Earlier, m...), err)
}

// matrix runs the drills.
func (p *program) matrix(ctx context.Context, o *options, args []string, results *matrix.Results) (matrix.Matrix, error) {
	modes, err := p.modesOf(o, args)
	if err != nil {
		return nil, err
	}
	if err := p.consent(o); err != nil {
		return nil, err
	}
	lock, err := undo.Lock(p.host.Lock)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	config, err := p.drillConfig(o, lock)
	if err != nil {
		return nil, err
	}
	recorder := matrix.Live{Program: o.stallmark, Dir: o.dir, Warm: warm, Errors: p.stderr}
	if o.recordings != "" {
		if err := os.MkdirAll(o.recordings, 0o700); err != nil {
			return nil, err
		}
		recorder.Keep, recorder.Record = o.recordings, o.before+o.duration+preparing
	}
	c := matrix.Config{
		Modes: modes, Times: o.times, Gap: o.gap, Aside: o.aside, Start: recorder.Start, Log: config.Log,
		Drill: func(ctx context.Context, mode drill.Mode) (drill.Result, error) {
			res, err := drill.Run(ctx, config, mode)
			res.Print(p.stderr) // what was felt, beside what will be said
			return res, err
		},
	}
	if o.results != "" {
		c.Done = results.Add
	}
	return matrix.Run(ctx, c)
}

// printMatrix prints what was reached and finds the exit code.
func (p *program) printMatrix(o *options, m matrix.Matrix, err error) (int, error) {
	if o.json {
		for _, v := range m {
			_ = json.NewEncoder(p.stdout).Encode(v)
		}
	} else if len(m) > 0 {
		m.Print(p.stdout)
	}
	wrong, spoilt := m.Wrong()
	switch {
	case err != nil:
		return exitUsage, err
	case wrong > 0 || spoilt == len(m):
		return exitNot, nil
	}
	return exitOK, nil
}

// modesOf are the named modes, or all that can run here.
func (p *program) modesOf(o *options, names []string) ([]drill.Mode, error) {
	if len(names) > 0 {
		return namedModes(names)
	}
	memory, err := p.host.ReadMemory()
	if err != nil {
		return nil, err
	}
	return p.possibleModes(o, memory.Total), nil
}

// wordList is an option that holds several words.
type wordList []string

// Set implements flag.Value: words are separated by commas or come again.
func (l *wordList) Set(s string) error {
	for word := range strings.SplitSeq(s, ",") {
		if word = strings.TrimSpace(word); word == "" {
			return errors.New("want words separated by commas")
		}
		*l = append(*l, word)
	}
	return nil
}

func (l *wordList) String() string {
	if l == nil {
		return ""
	}
	return strings.Join(*l, ",")
}
