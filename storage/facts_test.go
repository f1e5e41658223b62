package storage

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"stallmark/storage/model"
)

// TestFactsOfProcessesAreBounded lets many processes come and go while one
// stays for longer than anything is kept.
func TestFactsOfProcessesAreBounded(t *testing.T) {
	var clock atomic.Int64
	clock.Store(base)
	s := openTest(t, dbPath(t), func(o *Options) {
		o.Retention, o.RollupRetention = time.Hour, 48*time.Hour
		o.Now = func() time.Time { return time.UnixMilli(clock.Load()).UTC() }
	})
	lasting := model.NewSeries("stallmark_process_info", "pid", "1")
	s.Fact(model.Fact{At: s.opts.Now(), Key: "process.1.role", Value: "broker"})
	s.Fact(model.Fact{At: s.opts.Now(), Key: "host.name", Value: "h"})
	for day := range int64(5) {
		for i := range 200 {
			at := time.UnixMilli(base + day*dayMillis).UTC()
			s.Fact(model.Fact{At: at, Key: fmt.Sprintf("process.%d.role", 1000*day+int64(i)+2), Value: "short"})
		}
		for i := range int64(24) {
			clock.Store(base + day*dayMillis + i*60*spanMillis)
			s.Append(beatOf(clock.Load(), []*model.Series{lasting}, 1))
		}
		s.tendFacts()
		s.drained(t)
	}
	facts, err := s.FactsAt(context.Background(), s.opts.Now())
	if err != nil || facts["process.1.role"].Value != "broker" || facts["host.name"].Value != "h" {
		t.Errorf("%v, %v", facts["process.1.role"], err)
	}
	if n := len(facts); n > maxProcesses+2 {
		t.Errorf("memory has %d facts", n)
	}
	s.shut(t)
	stored := 0
	edit(t, s.path, func(tx *bbolt.Tx) error {
		eachLatest(tx.Bucket(bucketFacts), time.UnixMilli(clock.Load()).UTC(), func(key string, since time.Time, value []byte) {
			stored++
			if key == "process.1.role" && string(value) != "broker" {
				t.Errorf("%s is %q", key, value)
			}
		})
		return nil
	})
	if stored > 700 {
		t.Errorf("the file has %d facts", stored)
	}
}

// TestFactsChangeOften keeps the last values of a fact in memory, and asks the
// child for older ones.
func TestFactsChangeOften(t *testing.T) {
	s := openTest(t, dbPath(t), func(o *Options) { o.Now = func() time.Time { return time.UnixMilli(base).UTC() } })
	at := func(i int) time.Time { return time.UnixMilli(base + int64(i)*1000).UTC() }
	for i := range 2 * maxVersions {
		s.Fact(model.Fact{At: at(i), Key: "k", Value: fmt.Sprint(i)})
	}
	s.drained(t)
	for _, i := range []int{0, 1, maxVersions - 1, maxVersions, maxVersions + 1, 2*maxVersions - 1} {
		facts, err := s.FactsAt(context.Background(), at(i))
		if err != nil || facts["k"].Value != fmt.Sprint(i) {
			t.Errorf("at %d: %v, %v", i, facts["k"], err)
		}
	}
}
