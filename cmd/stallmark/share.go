package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"stallmark/storage"
	"stallmark/storage/model"
	"stallmark/storage/snapshot"
	"stallmark/web"
	"stallmark/web/access"
)

// shares is what a service needs to freeze incidents.
type shares struct {
	folder  *snapshot.Folder
	admin   *access.Admin
	freezer *web.Freezer
	auto    autoFreeze
}

// snapshotFolder is where snapshots lie, apart from the data file.
func snapshotFolder(data string) string { return filepath.Join(data, "snapshots") }

// openShares opens the folder of snapshots and the admin token. A folder that
// cannot be had is said and stops nothing else.
func (s *service) openShares() {
	admin, err := access.NewAdmin(s.options.data)
	if err != nil {
		s.log.Error("nothing can be frozen or shared: no admin token", "error", err)
		return
	}
	folder, err := snapshot.OpenFolder(snapshot.Config{Dir: snapshotFolder(s.options.data), Now: s.now})
	if folder == nil {
		s.log.Error("nothing can be frozen or shared: no folder for snapshots", "error", err)
		return
	}
	if err != nil {
		s.log.Warn("snapshots", "error", err)
	}
	made := &shares{folder: folder, admin: admin, auto: autoFreeze{before: s.options.snapshotBefore, after: s.options.snapshotAfter}}
	s.resumeFreezing(made)
	s.shares = made
}

// closeShares has written which links were opened, if there is time.
func (s *service) closeShares() {
	if s.shares == nil {
		return
	}
	within(stopHTTP, func() {
		if err := s.shares.folder.Close(); err != nil {
			s.log.Warn("snapshots", "error", err)
		}
	})
}

// resumeFreezing takes up what the last run would have frozen: critical findings
// that have ended while no time was left for it.
func (s *service) resumeFreezing(made *shares) {
	ctx, cancel := context.WithTimeout(context.Background(), stopStore)
	defer cancel()
	now := s.now()
	known, err := s.store.FindingsIn(ctx, now.Add(-restoreSpan), now)
	if err != nil {
		s.log.Warn("what was to be frozen could not be read", "error", err)
		return
	}
	kept, err := made.folder.List()
	if err != nil {
		s.log.Warn("snapshots", "error", err)
	}
	made.auto.resume(known, kept, now)
}

// share adds snapshots to what the page can do.
func (s *service) share(cfg *web.Config) error {
	cfg.Secure = s.guard.TLS != nil
	if len(s.guard.Users) > 0 {
		cfg.Basic = access.NewBasic(s.guard.Users, s.now)
	}
	if s.shares == nil {
		return nil
	}
	samples := samplesOf(s.store)
	var err error
	if s.shares.freezer, err = web.NewFreezer(*cfg, samples); err != nil {
		return err
	}
	cfg.Admin = s.shares.admin
	cfg.Shares = &web.Shares{Folder: s.shares.folder, Samples: samples, ExternalURL: strings.TrimRight(s.options.externalURL, "/"), Today: s.today}
	return nil
}

// samplesOf reads all that was sampled in a time.
func samplesOf(store *storage.Store) func(context.Context, time.Time, time.Time) ([]snapshot.Series, error) {
	return func(ctx context.Context, from, to time.Time) ([]snapshot.Series, error) {
		q, err := store.Querier(from.UnixMilli(), to.UnixMilli())
		if err != nil {
			return nil, err
		}
		defer q.Close()
		set := q.Select(ctx, true, nil, labels.MustNewMatcher(labels.MatchRegexp, metricName, ".+"))
		var out []snapshot.Series
		var it chunkenc.Iterator
		for set.Next() {
			one := set.At()
			s := snapshot.Series{}
			one.Labels().Range(func(l labels.Label) { s.Labels = append(s.Labels, model.Label{Name: l.Name, Value: l.Value}) })
			if n := len(out); n > 0 { // as long as the one before, nearly always
				s.T, s.V = make([]int64, 0, len(out[n-1].T)), make([]float64, 0, len(out[n-1].T))
			}
			it = one.Iterator(it)
			for it.Next() == chunkenc.ValFloat {
				t, v := it.At()
				s.T, s.V = append(s.T, t), append(s.V, v)
			}
			if err := it.Err(); err != nil {
				return nil, err
			}
			if len(s.T) > 0 {
				out = append(out, s)
			}
		}
		return out, set.Err()
	}
}

// Bounds of what is frozen by itself: a fault that flaps gives a few long
// snapshots and not many short ones.
const (
	autoEvery   = 10 * time.Minute // between two of them, at least
	autoLongest = time.Hour
)

// autoFreeze says when a critical incident that has ended is to be frozen. What
// overlaps becomes one snapshot.
type autoFreeze struct {
	before, after time.Duration
	from, to      time.Time // of what is to be frozen; zero: nothing
	last          time.Time // when one was made
}

// ended takes a finding that has ended.
func (a *autoFreeze) ended(f model.Finding) {
	if f.Ended == nil || f.Severity != model.SeverityCritical {
		return
	}
	from, to := f.Started.Add(-a.before), f.Ended.Add(a.after)
	if a.from.IsZero() || from.Before(a.from) {
		a.from = from
	}
	if to.After(a.to) {
		a.to = to
	}
}

// resume takes the findings of an earlier run that ended so lately that they were
// still to be frozen, and are in no automatic snapshot.
func (a *autoFreeze) resume(known []model.Finding, kept []snapshot.Info, now time.Time) {
	for _, f := range known {
		if f.Ended == nil || f.State != model.StateResolved || f.Ended.Add(a.after+autoEvery).Before(now) {
			continue
		}
		if !slices.ContainsFunc(kept, func(i snapshot.Info) bool {
			return i.Meta.By == snapshot.Automatic && !i.Meta.From.After(f.Started) && !i.Meta.To.Before(*f.Ended)
		}) {
			a.ended(f)
		}
	}
}

// due gives the time to be frozen, once it has passed whole, nothing critical
// goes on and the last one is long enough ago. Of more than the longest the end
// is taken.
func (a *autoFreeze) due(now time.Time, critical bool) (from, to time.Time, ok bool) {
	if a.from.IsZero() || now.Before(a.to) || now.Sub(a.last) < autoEvery {
		return from, to, false
	}
	if critical && a.to.Sub(a.from) < autoLongest {
		return from, to, false
	}
	from, to = a.from, a.to
	if to.Sub(from) > autoLongest {
		from = to.Add(-autoLongest)
	}
	a.from, a.to, a.last = time.Time{}, time.Time{}, now
	return from, to, true
}

// freezeEnded freezes what is due. It runs between two judgements.
func (s *service) freezeEnded(ctx context.Context, now time.Time) {
	if s.shares == nil || s.options.noAutoSnapshots {
		return
	}
	critical := false
	for _, f := range s.judging.Load().engine.Open() {
		critical = critical || f.Severity == model.SeverityCritical
	}
	from, to, ok := s.shares.auto.due(now, critical)
	if !ok {
		return
	}
	// Not on the goroutine of the rules: this takes a few tenths of a second.
	go func() {
		limited, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		got, err := s.shares.freezer.Freeze(limited, web.Order{From: from, To: to, By: snapshot.Automatic})
		var info snapshot.Info
		if err == nil {
			info, err = s.shares.folder.Put(got)
		}
		if err != nil {
			s.log.Warn("an incident could not be frozen", "from", from, "error", err)
			return
		}
		s.log.Info("incident frozen", "snapshot", info.ID, "bytes", info.Size, "from", from.Format(time.RFC3339))
	}()
}

// today judges a snapshot with the rules as they are now.
func (s *service) today(ctx context.Context, got *snapshot.Snapshot) (web.Today, error) {
	j := s.judging.Load()
	report, err := judgeSnapshot(ctx, j.pack, got)
	if err != nil {
		return web.Today{}, err
	}
	return web.CompareVerdicts(j.pack.Version(), got.Report, report), nil
}

// adminLine is the link by which a browser may change something.
func (s *service) adminLine(base string) string {
	if s.shares == nil {
		return ""
	}
	return fmt.Sprintf("to freeze and share: %s/login?token=%s\n", base, s.shares.admin.Token())
}

// metricName is the label that holds a series' name, by Prometheus' convention.
const metricName = "__name__"

// beatsOf turns the columns of a snapshot back into beats.
func beatsOf(all []snapshot.Series) (times []int64, at func(i int) []model.Sample) {
	index := map[int64][]model.Sample{}
	for _, one := range all {
		var name string
		var pairs []string
		for _, l := range one.Labels {
			if l.Name == metricName {
				name = l.Value
			} else {
				pairs = append(pairs, l.Name, l.Value)
			}
		}
		s := model.NewSeries(name, pairs...)
		for i, t := range one.T {
			index[t] = append(index[t], model.Sample{Series: s, Value: one.V[i]})
		}
	}
	for t := range index {
		times = append(times, t)
	}
	slices.Sort(times)
	return times, func(i int) []model.Sample { return index[times[i]] }
}
