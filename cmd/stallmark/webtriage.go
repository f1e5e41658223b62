package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"stallmark/collectors/files"
	"stallmark/rules"
	"stallmark/storage"
	"stallmark/storage/model"
	"stallmark/storage/snapshot"
	"stallmark/web"
)

// analysisBackend shows an analysis through the page.
type analysisBackend struct {
	*storage.Store
	*rules.Query
	pack   *rules.Pack
	report model.Report
}

// FindingsIn implements web.Backend.
func (b *analysisBackend) FindingsIn(context.Context, time.Time, time.Time) ([]model.Finding, error) {
	return b.report.Findings, nil
}

// Finding implements web.Backend.
func (b *analysisBackend) Finding(_ context.Context, id string) (model.Finding, bool, error) {
	i := slices.IndexFunc(b.report.Findings, func(f model.Finding) bool { return f.ID == id })
	if i < 0 {
		return model.Finding{}, false, nil
	}
	return b.report.Findings[i], true, nil
}

// Report implements web.Backend.
func (b *analysisBackend) Report(context.Context, time.Time, time.Time, []model.Finding) (model.Report, error) {
	return b.report, nil
}

// Signatures implements web.Backend.
func (b *analysisBackend) Signatures() []*rules.Signature { return b.pack.Signatures }

// Health implements web.Backend.
func (b *analysisBackend) Health(context.Context) web.Health {
	return web.Health{RulesVersion: b.pack.Version()}
}

// triageUploads is for web.Config: what was given, judged and frozen in memory.
func (s *service) triageUploads(ctx context.Context, uploads []web.Upload) (*snapshot.Snapshot, error) {
	pack := s.judging.Load().pack
	a, report, host, err := s.judgeUploads(ctx, pack, uploads)
	if err != nil {
		return nil, err
	}
	return s.freezeAnalysis(ctx, a, pack, report, host)
}

// judgeUploads judges all texts together, or a recording with the logs that were
// given beside it.
func (s *service) judgeUploads(ctx context.Context, pack *rules.Pack, uploads []web.Upload) (*analysis, model.Report, string, error) {
	bundle := files.NewBundle(uploadLimits())
	recording := slices.IndexFunc(uploads, isRecording)
	for i, u := range uploads {
		switch {
		case i == recording:
		case recording >= 0 && isRecording(u):
			bundle.Notes = append(bundle.Notes, oneLine(u.Name)+": a second recording is not judged with the first; give it alone")
		default:
			bundle.Add(oneLine(u.Name), bytes.NewReader(u.Data))
		}
	}
	if recording >= 0 {
		return s.judgeRecording(ctx, pack, uploads[recording], bundle)
	}
	a, report, err := s.judgeTexts(ctx, s.options, pack, bundle)
	return a, report, "texts", err
}

// isRecording reports whether an upload is a recording or a snapshot.
func isRecording(u web.Upload) bool {
	if files.LooksLikeRecording(u.Data[:min(len(u.Data), 1024)]) {
		return true
	}
	_, ok := uploadedSnapshot(u)
	return ok
}

// uploadedSnapshot is the snapshot in an upload: an archive, or a page.
func uploadedSnapshot(u web.Upload) (*snapshot.Snapshot, bool) {
	data := u.Data
	if len(data) > 0 && data[0] == '<' {
		var err error
		if data, err = snapshot.FromHTML(data); err != nil {
			return nil, false
		}
	}
	_, got, err := snapshot.Decode(bytes.NewReader(data), snapshot.DefaultLimits())
	return got, err == nil
}

// uploadLimits are tighter than those of a command: this memory is the
// recorder's own.
func uploadLimits() files.BundleLimits {
	return files.BundleLimits{File: 32 << 20, Total: 96 << 20, Files: 500, Depth: 3}
}

// judgeRecording judges a recording with what was given beside it, or a snapshot.
func (s *service) judgeRecording(ctx context.Context, pack *rules.Pack, u web.Upload, given *files.Bundle) (*analysis, model.Report, string, error) {
	if got, ok := uploadedSnapshot(u); ok {
		a, err := runSamples(ctx, pack, got)
		if err != nil {
			return nil, model.Report{}, "", err
		}
		report, err := a.report(ctx)
		for _, other := range given.Blobs {
			report.Excerpts = append(report.Excerpts, model.Excerpt{Notes: []string{"not judged: " + oneLine(other.Name) + " was given beside a snapshot; give it alone"}})
		}
		return a, report, got.Meta.Host, err
	}
	limits := files.DefaultLimits()
	limits.Total = 1 << 30
	rec, err := files.NewReader(bytes.NewReader(u.Data), limits)
	if err != nil {
		return nil, model.Report{}, "", err
	}
	defer rec.Close()
	m := recordedMachine(rec.Meta(), nil)
	m.logs = s.replayLogs(s.options.rules)
	a := newAnalysis(pack, rec.Meta().Interval())
	x := s.newBeside(s.options, given, rec.Meta().Start, func() time.Time {
		return lastTick(func() (*files.Recording, error) { return files.NewReader(bytes.NewReader(u.Data), limits) })
	})
	if err := a.run(ctx, rec, m, s.loadBaselines(u.Name, rec.Meta().Baselines), x); err != nil {
		return nil, model.Report{}, "", fmt.Errorf("%s: %w", oneLine(u.Name), err)
	}
	report, err := a.report(ctx)
	report.Excerpts = append(report.Excerpts, x.excerpts()...)
	for _, note := range rec.Notes() {
		report.Excerpts = append(report.Excerpts, model.Excerpt{Notes: []string{oneLine(note)}})
	}
	return a, report, m.hostname, err
}

// freezeAnalysis makes a snapshot of an analysis, which is shown and not kept.
func (s *service) freezeAnalysis(ctx context.Context, a *analysis, pack *rules.Pack, report model.Report, host string) (*snapshot.Snapshot, error) {
	interval := a.interval
	b := &analysisBackend{Store: a.store, Query: rules.NewQuery(a.store, interval), pack: pack, report: report}
	freezer, err := web.NewFreezer(web.Config{
		Logs:    followedLogs{s},
		Backend: b, Host: host, Version: s.version, Interval: interval, Now: func() time.Time { return a.last }, Logger: s.log,
	}, func(context.Context, time.Time, time.Time) ([]snapshot.Series, error) { return nil, nil })
	if err != nil {
		return nil, err
	}
	from, to := freezable(a, report, interval)
	got, err := freezer.Freeze(ctx, web.Order{From: from, To: to, By: "triage"})
	if err == nil && strings.TrimSpace(got.Meta.Title) == "" {
		got.Meta.Title = "Triage"
	}
	return got, err
}

// freezable is the time that is shown: all of it, or as much around the first
// finding as a page can show.
func freezable(a *analysis, report model.Report, interval time.Duration) (from, to time.Time) {
	least, most := 10*interval, 2000*interval
	from, to = a.first.Add(-interval).Truncate(interval), a.last.Add(interval).Truncate(interval)
	if to.Sub(from) < least {
		to = from.Add(least)
	}
	if to.Sub(from) <= most {
		return from, to
	}
	start := from
	if len(report.Findings) > 0 {
		start = report.Findings[0].Started.Add(-most / 4).Truncate(interval)
	}
	return start, start.Add(most)
}
