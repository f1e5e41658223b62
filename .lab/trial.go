package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stallmark/storage/model"
)

// trial is one provocation and what must be said of it.
type trial struct {
	name     string
	provoked string                                    // in words
	prepare  func(ctx context.Context, b *bench) error // before the time that is judged; optional
	provoke  func(ctx context.Context, b *bench) error
	causes   []string                                                      // any of them, in an incident
	symptoms []string                                                      // any of them in the same incident, whatever their layer; empty: none is asked for
	also     []string                                                      // further causes that are true here
	check    func(b *bench, rep model.Report, w row, from time.Time) error // what else must be true; optional
	settle   time.Duration
	root     bool   // needs root
	product  string // only for this product
	silent   string // the product whose logs need not say a symptom, but not apart either
}

// bench is a broker with its load and its recorder.
type bench struct {
	*broker
	r *recorder
}

// tryBroker runs all trials under one broker.
func tryBroker(ctx context.Context, o options, name string) ([]row, error) {
	b, err := newBroker(ctx, o, name)
	if err != nil {
		return nil, err
	}
	defer b.stop()
	if err := b.start(ctx); err != nil {
		return nil, err
	}
	r, err := record(ctx, o, b)
	if err != nil {
		return nil, err
	}
	defer r.c.stop(10 * time.Second)
	bn := &bench{b, r}
	if _, err := b.load(ctx, "produce:lab:100:4096", "produce:bulk:40:65536", "consume:lab:lab-good", "fail:lab:lab-bad"); err != nil {
		return nil, err
	}
	if err := b.warm(ctx); err != nil {
		return nil, err
	}
	var rows []row
	for _, t := range trials() {
		if len(o.cases) > 0 && !slices.Contains(o.cases, t.name) || t.product != "" && t.product != b.product {
			continue
		}
		fmt.Fprintf(os.Stderr, "lab: %s: %s: %s\n", name, t.name, t.provoked)
		w, err := bn.try(ctx, t)
		if err != nil {
			w.Wrong = append(w.Wrong, err.Error())
		}
		rows = append(rows, w)
		table(os.Stderr, rows[len(rows)-1:])
		if ctx.Err() != nil {
			break
		}
	}
	if !o.keep {
		err = os.RemoveAll(filepath.Join(b.folder, "store"))
	}
	return rows, err
}

// try provokes, listens meanwhile, and judges.
func (b *bench) try(ctx context.Context, t trial) (row, error) {
	w := row{Broker: b.name(), Case: t.name, Provoked: t.provoked}
	if t.root && os.Geteuid() != 0 {
		return w, fmt.Errorf("needs root")
	}
	if t.prepare != nil {
		if err := t.prepare(ctx, b); err != nil {
			return w, err
		}
	}
	from := time.Now()
	mark := size(b.in("load.out"))
	stop, err := b.tape(t.name)
	if err != nil {
		return w, err
	}
	heard, quit := make(chan time.Duration, 1), make(chan struct{})
	go func() { heard <- b.listen(ctx, t.causes, from, quit) }()
	err = t.provoke(ctx, b)
	if pause(ctx, t.settle) != nil {
		err = ctx.Err()
	}
	close(quit)
	w.Seconds = (<-heard).Seconds()
	err = errors.Join(err, stop())
	w.Felt = felt(b.in("load.out"), mark)
	if err != nil {
		return w, err
	}
	rep, err := b.r.report(ctx, from, time.Now())
	if err != nil {
		return w, err
	}
	if err := keep(b.in(t.name+".json"), rep); err != nil {
		return w, err
	}
	judge(&w, t, rep, from)
	if t.check != nil {
		err = t.check(b, rep, w, from)
	}
	return w, err
}

// listen returns how long it took until a cause was said, 0 if none was.
func (b *bench) listen(ctx context.Context, causes []string, from time.Time, quit chan struct{}) time.Duration {
	for len(causes) > 0 {
		select {
		case <-quit:
			return 0
		case <-time.After(time.Second):
		}
		rep, err := b.r.report(ctx, from, time.Now())
		if err != nil {
			continue // a page that is slow now is asked again
		}
		for _, f := range rep.Findings {
			if slices.Contains(causes, f.Signature) && !f.Started.Before(from.Add(-2*time.Second)) {
				return time.Since(from)
			}
		}
	}
	return 0
}

// judge compares what was said with what was provoked. Right is one incident whose root is a provoked cause, with a wanted symptom in it.
func judge(w *row, t trial, rep model.Report, from time.Time) {
	byID := map[string]model.Finding{}
	for _, f := range rep.Findings {
		byID[f.ID] = f
	}
	for _, inc := range rep.Incidents {
		root, others := byID[inc.Root], followers(inc, byID, from)
		w.Wrong = append(w.Wrong, untrue(t, root, from)...)
		switch {
		case over(root, from) && len(others) == 0:
		case !slices.Contains(t.causes, root.Signature):
			w.Apart = append(append(w.Apart, root.Signature), others...)
		case w.Cause == "" || !common(t.symptoms, w.Symptoms) && common(t.symptoms, others):
			w.Cause, w.Symptoms = root.Signature, others
		}
	}
	w.Apart, w.Wrong = unique(w.Apart), unique(w.Wrong)
	if len(t.causes) == 0 {
		w.Symptoms, w.Apart = w.Apart, nil
	} else if w.Cause == "" {
		w.Wrong = append(w.Wrong, "it is the root of no incident; said: "+said(rep, from))
	}
	asked := t.silent == "" || !strings.HasPrefix(w.Broker, t.silent+"-") || common(t.symptoms, w.Apart)
	if asked && len(t.symptoms) > 0 && !common(t.symptoms, w.Symptoms) {
		w.Wrong = append(w.Wrong, "no symptom in its incident (apart: "+strings.Join(w.Apart, ", ")+")")
	}
}

// over reports whether a finding had ended before.
func over(f model.Finding, from time.Time) bool { return f.Ended != nil && f.Ended.Before(from) }

// followers are the signatures in an incident beside its root.
func followers(inc model.Incident, byID map[string]model.Finding, from time.Time) []string {
	var list []string
	for _, id := range inc.Findings {
		if f := byID[id]; id != inc.Root && !over(f, from) {
			list = append(list, f.Signature)
		}
	}
	return unique(list)
}

func common(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// untrue is a root that was not provoked.
func untrue(t trial, root model.Finding, from time.Time) []string {
	switch {
	case root.Layer != model.LayerCause, root.Severity == model.SeverityInfo, root.Started.Before(from.Add(-2 * time.Second)):
		return nil
	case slices.Contains(t.causes, root.Signature), slices.Contains(t.also, root.Signature), slices.Contains(aside, root.Signature):
		return nil
	case len(t.causes) == 0 && root.Severity != model.SeverityCritical:
		return nil
	}
	return []string{root.Signature + " (" + string(root.Severity) + ") was not provoked"}
}

// aside is what the rest of the machine may earn at any time.
var aside = []string{"cpu-saturation", "cpu-steal", "host-pause", "page-cache-thrash"}

// said lists the findings of a time.
func said(rep model.Report, from time.Time) string {
	var list []string
	for _, f := range rep.Findings {
		if f.Ended == nil || f.Ended.After(from) {
			list = append(list, f.Signature)
		}
	}
	if len(list) == 0 {
		return "nothing was said"
	}
	return strings.Join(unique(list), ", ")
}

func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// felt is the longest send and the number of failed ones that clients printed after an offset.
func felt(path string, offset int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if _, err := f.Seek(offset, 0); err != nil {
		return ""
	}
	var worst, failed int
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var sent, fails, ms int
		if n, _ := fmt.Sscanf(lines.Text(), "sent %d failed %d worst_ms %d", &sent, &fails, &ms); n == 3 {
			worst, failed = max(worst, ms), failed+fails
		}
	}
	return fmt.Sprintf("%d ms, %d failed", worst, failed)
}
