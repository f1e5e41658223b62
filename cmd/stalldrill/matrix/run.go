package matrix

import (
	"context"
	"errors"
	"fmt"
	"time"

	"stallmark/cmd/stalldrill/drill"
	"stallmark/storage/model"
)

// Recorder is a recorder that watches the machine.
type Recorder interface {
	// Report is what it says about a span of time.
	Report(ctx context.Context, from, to time.Time) (model.Report, error)
	// Stop ends it and everything that it has started. A recording of its time
	// is kept if there is one and that is wanted; kept is where.
	Stop(keep bool) (kept string, err error)
}

// Config is how a matrix is made.
type Config struct {
	Modes []drill.Mode
	Times int
	Gap   time.Duration // between two drills
	Aside []string      // signatures that the rest of the machine may earn
	// Start starts a recorder that knows nothing yet, once for each drill.
	Start func(ctx context.Context, mode string) (Recorder, error)
	Drill func(context.Context, drill.Mode) (drill.Result, error)
	Log   func(format string, args ...any)
	// Done takes each verdict as soon as it is reached; nil: nobody wants it.
	Done func(Verdict) error
}

// listenEvery is how often the recorder is asked while a drill goes on, settle
// how long it may take to say its last word.
const (
	listenEvery = time.Second
	settle      = 4 * time.Second
)

// Run makes the matrix. What was reached before an error is returned with it.
func Run(ctx context.Context, c Config) (Matrix, error) {
	var m Matrix
	for round := range c.Times {
		for i, mode := range c.Modes {
			if round+i > 0 {
				wait(ctx, c.Gap)
			}
			if ctx.Err() != nil {
				return m, errors.New("interrupted")
			}
			v, err := one(ctx, c, mode)
			if err != nil {
				return m, fmt.Errorf("%s: %w", mode.Name, err)
			}
			c.Log("%s: %s", mode.Name, v.text())
			m = append(m, v)
			if c.Done == nil {
				continue
			}
			if err := c.Done(v); err != nil {
				return m, err
			}
		}
	}
	return m, nil
}

// text is the verdict in a line.
func (v Verdict) text() string {
	text := "right"
	switch {
	case v.Spoilt != "":
		text = "proves nothing: " + v.Spoilt
	case !v.Right:
		text = fmt.Sprintf("WRONG: %q", v.Wrong)
	}
	for _, w := range v.Said {
		text += fmt.Sprintf("; %s %s %s after %.1f s (%s)", w.Signature, w.Severity, w.Confidence, w.Seconds, w.Kind)
	}
	return text
}

// one runs a drill beside a recorder of its own.
func one(ctx context.Context, c Config, mode drill.Mode) (v Verdict, err error) {
	rec, err := c.Start(ctx, mode.Name)
	if err != nil {
		return v, err
	}
	defer func() {
		kept, stopErr := rec.Stop(err == nil && !v.Right && v.Spoilt == "")
		v.Kept = kept
		err = errors.Join(err, stopErr)
	}()
	ear := &ear{recorder: rec, began: time.Now(), first: map[string]time.Time{}}
	listening, end := context.WithCancel(ctx)
	heard := make(chan struct{})
	go func() { defer close(heard); ear.listen(listening) }()
	res, drillErr := c.Drill(ctx, mode)
	wait(ctx, settle)
	end()
	<-heard
	said, err := ear.all(ctx)
	if err != nil {
		return v, err
	}
	v = Judge(res, said, c.Aside)
	if drillErr != nil {
		v.Spoilt = drillErr.Error()
	}
	if len(res.Restored.Problems) > 0 {
		err = fmt.Errorf("NOT RESTORED: %q", res.Restored.Problems)
	}
	return v, err
}

// ear remembers when the recorder first said something.
type ear struct {
	recorder Recorder
	began    time.Time
	first    map[string]time.Time // by id of the finding
}

// listen asks again and again until ctx ends.
func (e *ear) listen(ctx context.Context) {
	tick := time.NewTicker(listenEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case at := <-tick.C:
			if r, err := e.recorder.Report(ctx, e.began, at); err == nil { // one that is late is asked again
				e.note(r.Findings, at)
			}
		}
	}
}

func (e *ear) note(found []model.Finding, at time.Time) {
	for _, f := range found {
		if _, known := e.first[f.ID]; !known {
			e.first[f.ID] = at
		}
	}
}

// all is everything that was said, once the listening has ended.
func (e *ear) all(ctx context.Context) ([]Said, error) {
	now := time.Now()
	r, err := e.recorder.Report(ctx, e.began, now)
	if err != nil {
		return nil, err
	}
	e.note(r.Findings, now)
	roots := map[string]bool{}
	for _, in := range r.Incidents {
		roots[in.Root] = true
	}
	var all []Said
	for _, f := range r.Findings {
		all = append(all, Said{Finding: f, Root: roots[f.ID], First: e.first[f.ID]})
	}
	return all, nil
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
