package main

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/collectors/files"
	"stallmark/rules"
	"stallmark/storage/model"
	"stallmark/storage/snapshot"
	"stallmark/web"
)

// series of an incident that is frozen, and its length in seconds.
const (
	frozenSeries  = 1000
	frozenSeconds = 900
)

// lengthened is an incident of a quarter of an hour with a thousand series: those
// of a recording, again and again, counters going on from where they were.
func lengthened(b *testing.B, name string) (*analysis, *rules.Pack, model.Report) {
	b.Helper()
	ctx := b.Context()
	rec, err := files.Open(capturePath(name), files.DefaultLimits())
	if err != nil {
		b.Fatal(err)
	}
	defer rec.Close()
	pack, _ := rules.Load()
	a := newAnalysis(pack, rec.Meta().Interval())
	if err := a.run(ctx, rec, recordedMachine(rec.Meta(), nil), nil, nil); err != nil {
		b.Fatal(err)
	}
	report, err := a.report(ctx)
	if err != nil {
		b.Fatal(err)
	}
	all, err := samplesOf(a.store)(ctx, a.first, a.last)
	if err != nil {
		b.Fatal(err)
	}
	long := newAnalysis(pack, time.Second)
	long.first, long.last = a.first, a.first.Add(frozenSeconds*time.Second)
	for i := range frozenSeconds {
		long.store.Append(model.Batch{At: a.first.Add(time.Duration(i) * time.Second).UnixMilli(), Samples: beat(all, i)})
	}
	return long, pack, report
}

// beat is the values of one second. What a series has grown by in the recording
// it grows by again each time; the rest are of no rule.
func beat(all []snapshot.Series, i int) []model.Sample {
	var out []model.Sample
	for k := range frozenSeries {
		one := all[k%len(all)]
		n := len(one.V)
		round := float64(i / n)
		v := one.V[i%n]
		if first, last := one.V[0], one.V[n-1]; rising(one.V) {
			v += round * (last - first)
		}
		var pairs []string
		name := ""
		for _, l := range one.Labels {
			if l.Name == metricName {
				name = l.Value
			} else {
				pairs = append(pairs, l.Name, l.Value)
			}
		}
		if k >= len(all) {
			name += "_more"
			pairs = append(pairs, "round", strconv.Itoa(k/len(all)))
			v *= 1 + float64(k/len(all))/10
		}
		out = append(out, model.Sample{Series: model.NewSeries(name, pairs...), Value: v})
	}
	return out
}

func rising(values []float64) bool {
	for i := 1; i < len(values); i++ {
		if values[i] < values[i-1] {
			return false
		}
	}
	return true
}

// BenchmarkFreeze freezes a quarter of an hour of a thousand series, as the
// button does: the pages' lines evaluated at every second, packed, hashed and
// put on the disk.
func BenchmarkFreeze(b *testing.B) {
	a, pack, report := lengthened(b, "c_direct_reclaim")
	backend := &analysisBackend{Store: a.store, Query: rules.NewQuery(a.store, time.Second), pack: pack, report: report}
	freezer, err := web.NewFreezer(web.Config{
		Backend: backend, Host: "broker-07", Version: "v0", Interval: time.Second, Now: func() time.Time { return a.last },
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}, samplesOf(a.store))
	if err != nil {
		b.Fatal(err)
	}
	folder, err := snapshot.OpenFolder(snapshot.Config{Dir: b.TempDir() + "/snapshots", Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	defer folder.Close()
	var info snapshot.Info
	var got *snapshot.Snapshot
	before := cpuTaken(b)
	for b.Loop() {
		if got, err = freezer.Freeze(context.Background(), web.Order{From: a.first, To: a.last, By: "page"}); err != nil {
			b.Fatal(err)
		}
		if info, err = folder.Put(got); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((cpuTaken(b)-before).Milliseconds())/float64(b.N), "cpu-ms/op") // does not depend on what else runs
	b.ReportMetric(float64(info.Size), "bytes")
	b.ReportMetric(float64(len(got.Samples)), "series")
	b.ReportMetric(float64(len(got.Lines)), "lines")
}

// cpuTaken is the time that this process has had of all CPUs.
func cpuTaken(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
