package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"go.etcd.io/bbolt"

	"stallmark/storage/model"
)

// edit changes a file that nobody has open.
func edit(t *testing.T, path string, f func(*bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockWait})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(f), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// filled makes a file with n beats in it, all of them in blocks but for the
// last minute.
func filled(t *testing.T, n int64) (path string, want map[string][]sample) {
	t.Helper()
	path = dbPath(t)
	s := openTest(t, path)
	want = feed(s.Store, 0, n)
	s.drained(t)
	s.shut(t)
	return path, want
}

func TestSecondInstanceIsRefused(t *testing.T) {
	path := dbPath(t)
	s := openTest(t, path)
	_, err := Open(context.Background(), Options{Path: path, Now: time.Now, Child: childCommandOf(path)})
	if !errors.Is(err, ErrInUse) {
		t.Fatalf("error %v, want ErrInUse", err)
	}
	want := feed(s.Store, 0, 100)
	s.drained(t)
	checkSamples(t, selectAll(t, s.Store, 0, math.MaxInt64, "__name__", ".+"), want)
}

func TestNewerFileIsRefusedAndLeftAlone(t *testing.T) {
	path, _ := filled(t, 130)
	edit(t, path, func(tx *bbolt.Tx) error { return tx.Bucket(bucketMeta).Put(keyFormat, []byte("99")) })
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(context.Background(), Options{Path: path, Now: time.Now, Child: childCommandOf(path)})
	if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "99") {
		t.Fatalf("error %v, want ErrNewer with the format", err)
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file has been changed (%v)", err)
	}
}

func TestOlderFileOpens(t *testing.T) {
	path, want := filled(t, 130)
	edit(t, path, func(tx *bbolt.Tx) error {
		if err := tx.DeleteBucket(bucketFindings); err != nil {
			return err
		}
		return tx.Bucket(bucketMeta).Put(keyFormat, []byte("0"))
	})
	s := openTest(t, path)
	checkSamples(t, selectAll(t, s.Store, 0, math.MaxInt64, "__name__", ".+"), want)
	s.PutFinding(model.Finding{ID: "x"})
	feed(s.Store, 200, 200)
	s.drained(t)
}

// TestDamagedFileIsMovedAside damages a file in several ways. Service goes on
// with a fresh one, and the damaged one is still there.
func TestDamagedFileIsMovedAside(t *testing.T) {
	cases := map[string]func([]byte) []byte{
		"garbage":    func(b []byte) []byte { return bytes.Repeat([]byte("garbage "), 4096) },
		"both metas": func(b []byte) []byte { return append(make([]byte, 8192), b[8192:]...) },
		"truncated":  func(b []byte) []byte { return b[:3*4096] },
		"zeroed":     func(b []byte) []byte { return append(b[:8192:8192], make([]byte, len(b)-8192)...) },
	}
	for name, damage := range cases {
		t.Run(name, func(t *testing.T) {
			path, _ := filled(t, 700)
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			damaged := damage(whole)
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			s := openTest(t, path)
			feed(s.Store, 1000, 200)
			s.drained(t)
			st := s.Status()
			if st.MovedAside == "" || st.Blocks == 0 {
				t.Errorf("status %+v", st)
			}
			checkSelfEvent(t, s.Store, "moved aside")
			aside, err := filepath.Glob(path + ".damaged-*")
			if err != nil || len(aside) != 1 {
				t.Fatalf("%v, %v", aside, err)
			}
			if kept, err := os.ReadFile(aside[0]); err != nil || len(kept) < len(damaged) {
				t.Errorf("%d bytes were kept of %d, %v", len(kept), len(damaged), err)
			}
		})
	}
}

// checkSelfEvent checks that the store has said something with the text.
func checkSelfEvent(t *testing.T, s *Store, text string) {
	t.Helper()
	events, err := s.EventsIn(context.Background(), time.Time{}, time.UnixMilli(1<<50), model.EventSelf)
	if err != nil {
		t.Error(err)
	}
	for _, e := range events {
		if strings.Contains(e.Text, text) {
			return
		}
	}
	t.Errorf("no event says %q: %v", text, events)
}

// TestBadBlockIsLeftOut damages one block: the others are read, the bad one is
// named and stays in the file.
func TestBadBlockIsLeftOut(t *testing.T) {
	path, want := filled(t, 300)
	bad := base + 2*spanMillis
	edit(t, path, func(tx *bbolt.Tx) error {
		own := tx.Bucket(bucketRaw).Bucket(timeKey(bad))
		data := bytes.Clone(own.Get(keyBlock))
		data[len(data)-5] ^= 0xff
		return own.Put(keyBlock, data)
	})
	for k, samples := range want {
		want[k] = nil
		for _, s := range samples {
			if s.t < bad || s.t >= bad+spanMillis {
				want[k] = append(want[k], s)
			}
		}
	}
	s := openTest(t, path)
	all := labels.MustNewMatcher(labels.MatchRegexp, "__name__", ".+")
	got, warnings := selectWarned(t, s.Store, 0, math.MaxInt64, []*labels.Matcher{all})
	checkSamples(t, got, want)
	if len(warnings) != 1 || !strings.Contains(warnings[0].Error(), "cannot be read") {
		t.Errorf("warnings %v", warnings)
	}
	feed(s.Store, 700, 700) // compaction, rollups and retention pass over it
	s.drained(t)
	st := s.Status()
	if len(st.BadBlocks) != 1 {
		t.Errorf("bad blocks %v", st.BadBlocks)
	}
	for name := range st.BadBlocks {
		if !strings.Contains(name, time.UnixMilli(bad).UTC().Format(time.RFC3339)) {
			t.Errorf("the bad block is called %q", name)
		}
	}
	checkSelfEvent(t, s.Store, "cannot be read")
	s.shut(t)
	edit(t, path, func(tx *bbolt.Tx) error {
		if getBlock(tx.Bucket(bucketRaw), timeKey(bad)) == nil {
			t.Error("the bad block has gone")
		}
		return nil
	})
}

// TestTornJournalIsReadUpToThere cuts the journal that a killed process left.
func TestTornJournalIsReadUpToThere(t *testing.T) {
	path := dbPath(t)
	s := openTest(t, path)
	want := feed(s.Store, 0, 100)
	s.drained(t)
	s.shut(t)
	journals, err := findJournals(path)
	if err != nil || len(journals) != 1 {
		t.Fatalf("%v, %v", journals, err)
	}
	whole, err := os.ReadFile(journals[0].path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(journals[0].path, whole[:len(whole)-3], 0o600); err != nil {
		t.Fatal(err)
	}
	for k, samples := range want {
		for len(samples) > 0 && samples[len(samples)-1].t >= base+99*1000 {
			samples = samples[:len(samples)-1]
		}
		want[k] = samples
	}
	s = openTest(t, path)
	checkSamples(t, selectAll(t, s.Store, 0, math.MaxInt64, "__name__", ".+"), want)
	want = add(want, feed(s.Store, 101, 100))
	s.drained(t)
	checkSelfEvent(t, s.Store, "torn")
	s.shut(t)
	s = openTest(t, path)
	checkSamples(t, selectAll(t, s.Store, 0, math.MaxInt64, "__name__", ".+"), want)
}

// TestDamageFoundLater damages a page that opening does not look at. Reading
// warns; writing, which cannot go on in such a file, moves it aside.
func TestDamageFoundLater(t *testing.T) {
	path := dbPath(t)
	s := openTest(t, path)
	for i := range int64(400) { // enough events for several pages
		at := time.UnixMilli(base + i*1000).UTC()
		s.Event(model.Event{From: at, To: at, Text: fmt.Sprintf("%0100d", i)})
	}
	s.drained(t)
	want := feed(s.Store, 0, 130)
	s.drained(t)
	s.shut(t)
	damageMiddlePage(t, path, bucketEvents)
	s = openTest(t, path)
	if s.Status().MovedAside != "" {
		t.Fatal("opening has found it: the test shows nothing")
	}
	for k, samples := range want { // the last minute is not in the file yet
		want[k] = slices.DeleteFunc(samples, func(s sample) bool { return s.t < base+120_000 })
	}
	for i := range int64(400) {
		at := time.UnixMilli(base + i*1000 + 500).UTC()
		s.Event(model.Event{From: at, To: at, Text: "y"})
	}
	s.drained(t)
	want = add(want, feed(s.Store, 1000, 130))
	eventually(t, "the file to be moved aside", func() bool { return s.Status().MovedAside != "" })
	want = add(want, feed(s.Store, 1130, 130))
	eventually(t, "all to be stored", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		return s.client.drain(ctx) == nil
	})
	checkSelfEvent(t, s.Store, "moved aside")
	s.shut(t)
	s = openTest(t, path)
	checkSamples(t, selectAll(t, s.Store, 0, math.MaxInt64, "__name__", ".+"), want)
}

// damageMiddlePage overwrites a leaf in the middle of a bucket.
func damageMiddlePage(t *testing.T, path string, bucket []byte) {
	t.Helper()
	var middle []byte
	edit(t, path, func(tx *bbolt.Tx) error {
		c := tx.Bucket(bucket).Cursor()
		n := 0
		for k, v := c.First(); k != nil; k, v = c.Next() {
			if n++; n == 200 {
				middle = bytes.Clone(v)
			}
		}
		return nil
	})
	whole, err := os.ReadFile(path)
	if err != nil || middle == nil {
		t.Fatalf("%d bytes of an event, %v", len(middle), err)
	}
	found := 0
	for at := bytes.Index(whole, middle); at >= 0; at = bytes.Index(whole, middle) {
		page := at / 4096 * 4096
		copy(whole[page:page+16], bytes.Repeat([]byte{0xee}, 16))
		copy(whole[at:], make([]byte, len(middle)))
		found++
	}
	if found == 0 {
		t.Fatal("the page has not been found")
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
}

// What the head has whole is left out of a question to the file; nothing is
// left to ask then, and a block of the same minute is not damaged for that.
func TestNothingLeftToAskTheFile(t *testing.T) {
	s := hours(t, 90)
	path := s.path
	s.shut(t)
	room := func(string) (int64, int64) { return 1 << 40, 1 << 20 }
	d, err := openDisk(childConfig{path: path, now: time.Now, space: room, log: slog.Default()}, hello{Interval: time.Second, Retention: 48 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.close(); err != nil {
			t.Error(err)
		}
	}()
	name := labels.MustNewMatcher(labels.MatchEqual, "__name__", "c_total")
	for _, q := range []selection{
		{mint: base + 30_000, maxt: base + 20_000},
		{mint: base + 30_000, maxt: base - 1},
		{mint: base + 200_000, maxt: base + 300_000},
	} {
		q.matchers = []*labels.Matcher{name}
		warnings, err := d.selectBlocks(t.Context(), q, nil, func([]byte) error {
			t.Errorf("%d to %d: an answer", q.mint-base, q.maxt-base)
			return nil
		})
		if err != nil || len(warnings) > 0 || len(d.bad) > 0 {
			t.Errorf("%d to %d: %v, warnings %q, bad blocks %v", q.mint-base, q.maxt-base, err, warnings, d.bad)
		}
	}
}
