package storage

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"stallmark/storage/model"
)

// eventually waits for a condition that another process brings about.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s: not within 20 s", what)
		}
	}
}

// stopProcess stops a process and waits until all of it stands still.
func stopProcess(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all threads to stop", func() bool {
		stats, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		return err == nil && len(stats) > 0 && !slices.ContainsFunc(stats, func(name string) bool {
			stat, err := os.ReadFile(name)
			return err == nil && !bytes.Contains(stat, []byte(") T "))
		})
	})
}

// TestChildIsStartedAgain kills the child again and again: beats go on, and
// what it had not confirmed is sent to the next one.
func TestChildIsStartedAgain(t *testing.T) {
	s := openReal(t, dbPath(t))
	want := map[string][]sample{}
	for i := range int64(4) {
		want = add(want, feed(s.Store, i*90, 90))
		if err := syscall.Kill(s.Status().ChildPID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually(t, "another child", func() bool { return s.Status().Restarts > int(i) && s.Status().ChildUp })
	}
	s.drained(t)
	if st := s.Status(); st.LostBeats != 0 || st.Unconfirmed != 0 {
		t.Errorf("status %+v", st)
	}
	s.shut(t)
	s = openTest(t, s.path)
	checkSamples(t, selectAll(t, s.Store, 0, math.MaxInt64, "__name__", ".+"), want)
}

// TestStoppedChild stops the child as a frozen disk does. The parent goes on:
// beats are taken, recent samples are there, history is missing with a warning.
func TestStoppedChild(t *testing.T) {
	s := openReal(t, dbPath(t))
	want := feed(s.Store, 0, 400)
	s.drained(t)
	s.trim()
	pid := s.Status().ChildPID
	stopProcess(t, pid)
	want = add(want, feed(s.Store, 400, 300))
	q, err := s.Querier(0, math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	set := q.Select(context.Background(), true, nil, labels.MustNewMatcher(labels.MatchEqual, "__name__", "level"))
	if !set.Next() || set.Err() != nil {
		t.Errorf("recent samples are missing: %v", set.Err())
	}
	if w := fmt.Sprint(set.Warnings().AsErrors()); !strings.Contains(w, "missing") {
		t.Errorf("warnings %v", w)
	}
	at := time.UnixMilli(base).UTC()
	if _, err := s.EventsIn(context.Background(), s.opened, s.opened.Add(time.Hour)); err != nil {
		t.Errorf("recent events need the child: %v", err)
	}
	s.Event(model.Event{From: at, To: at, Text: "meanwhile"})
	if st := s.Status(); st.Unconfirmed < 300 {
		t.Errorf("%d beats are said to be unconfirmed", st.Unconfirmed)
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	s.drained(t)
	eventually(t, "the child to answer again", func() bool { return s.Status().ChildUp })
	checkSamples(t, selectAll(t, s.Store, 0, math.MaxInt64, "__name__", ".+"), want)
}

// TestFullDisk lets every write beyond a size fail. Service goes on from
// memory and the journals, which the status says; with room again all is stored.
func TestFullDisk(t *testing.T) {
	path := dbPath(t)
	openTest(t, path).shut(t) // makes the file: 32 KiB
	s := openReal(t, path, limitEnv+"=34000")
	want := feed(s.Store, 0, 600)
	checkSamples(t, selectAll(t, s.Store, 0, math.MaxInt64, "__name__", ".+"), want)
	eventually(t, "the failure in the status", func() bool { return s.Status().WriteError != "" })
	s.drained(t)
	s.shut(t)
	s = openTest(t, path)
	want = add(want, feed(s.Store, 600, 100))
	s.drained(t)
	checkSamples(t, selectAll(t, s.Store, 0, math.MaxInt64, "__name__", ".+"), want)
	if st := s.Status(); st.MovedAside != "" || st.WriteError != "" || st.Blocks == 0 {
		t.Errorf("status %+v", st)
	}
}

// TestNoSpaceAtAll does the same with no room for a journal either: then only
// memory has the beats.
func TestNoSpaceAtAll(t *testing.T) {
	path := dbPath(t)
	openTest(t, path).shut(t)
	s := openReal(t, path, limitEnv+"=300")
	want := feed(s.Store, 0, 600)
	checkSamples(t, selectAll(t, s.Store, 0, math.MaxInt64, "__name__", ".+"), want)
	eventually(t, "the failure in the status", func() bool { return s.Status().WriteError != "" })
	if st := s.Status(); st.Unconfirmed < 500 || st.Waiting < 499*time.Second || st.LostBeats != 0 {
		t.Errorf("status %+v", st)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if err := s.Close(ctx); err == nil {
		t.Error("closing says that all is on the disk")
	}
	s.Store = nil
	s = openTest(t, path)
	selectAll(t, s.Store, 0, math.MaxInt64, "__name__", ".+")
	if st := s.Status(); st.MovedAside != "" {
		t.Errorf("status %+v", st)
	}
}

// TestMemoryIsBounded lets a child hang for ever: the oldest minutes go, which
// is counted and said.
func TestMemoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openSilent(t)
		s.maxHead = 200_000
		feed(s, 0, 9000)
		st := s.Status()
		if st.HeadBytes > 250_000 || st.LostBeats == 0 {
			t.Errorf("status %+v", st)
		}
		checkSelfEventInMemory(t, s, "are lost")
		from, to, _ := s.head.extent()
		if to-from < 60_000 {
			t.Errorf("only %d ms are left", to-from)
		}
	})
}

func checkSelfEventInMemory(t *testing.T, s *Store, text string) {
	t.Helper()
	for _, e := range s.events.in(time.Time{}, time.UnixMilli(1<<50), nil) {
		if strings.Contains(e.Text, text) {
			return
		}
	}
	t.Errorf("no event says %q", text)
}

// openSilent opens a store whose child says that it is ready and then nothing.
func openSilent(t *testing.T) *Store {
	t.Helper()
	return openFake(t, func(*wire, message) {})
}

// openFake opens a store with a child that takes messages as told, and never
// confirms anything.
func openFake(t *testing.T, take func(*wire, message)) *Store {
	t.Helper()
	o := Options{Now: time.Now, spawn: func() (*process, error) {
		ours, theirs := net.Pipe()
		go func() {
			if _, err := readMessage(theirs); err != nil {
				return
			}
			out := &wire{conn: theirs, timeout: time.Hour}
			if err := out.send(msgReady, 0, nil); err != nil {
				return
			}
			for {
				m, err := readMessage(theirs)
				if err != nil {
					return
				}
				take(out, m)
			}
		}()
		return &process{conn: ours, kill: func() { theirs.Close() }, wait: func() error { return nil }}, nil
	}}
	s, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := s.Close(ctx); err == nil && s.Status().Unconfirmed > 0 {
			t.Error("closing says that a silent child has stored everything")
		}
	})
	return s
}

// TestSilentChildIsReplaced gives up a child that owes an answer for a minute,
// and not sooner; questions meanwhile are given up after their deadline.
func TestSilentChildIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openSilent(t)
		feed(s, 0, 10)
		began := time.Now()
		if _, err := s.EventsIn(context.Background(), time.Time{}, began); err == nil {
			t.Error("a silent child has answered")
		}
		if took := time.Since(began); took > answerWait {
			t.Errorf("the question took %v", took)
		}
		time.Sleep(silenceWait - 20*time.Second)
		synctest.Wait()
		if st := s.Status(); st.Restarts != 0 || st.ChildUp || st.Silent < 20*time.Second {
			t.Errorf("status %+v", st)
		}
		began = time.Now()
		for range 10 {
			go s.EventsIn(context.Background(), time.Time{}, began)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := s.client.calls(); n != 1 {
			t.Errorf("%d questions wait for a silent child, want the one that is put again", n)
		}
		time.Sleep(40 * time.Second)
		synctest.Wait()
		if st := s.Status(); st.Restarts == 0 {
			t.Errorf("the child has not been replaced: %+v", st)
		}
	})
}

// calls is how many questions wait for an answer.
func (c *client) calls() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	return len(c.link.calls)
}

// TestBackoff counts how often a child that dies at once is started.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var starts atomic.Int32
		o := Options{Now: time.Now, spawn: func() (*process, error) {
			starts.Add(1)
			ours, theirs := net.Pipe()
			theirs.Close()
			return &process{conn: ours, kill: func() {}, wait: func() error { return nil }}, nil
		}}
		s, err := Open(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if n := starts.Load(); n < 5 || n > 15 {
			t.Errorf("started %d times in a minute", n)
		}
		feed(s, 0, 10)
		if st := s.Status(); st.ChildUp || st.ChildError == "" {
			t.Errorf("status %+v", st)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := s.Close(ctx); err == nil {
			t.Error("closing says that all is on the disk")
		}
	})
}

func TestChildThatCannotBeStarted(t *testing.T) {
	_, err := Open(context.Background(), Options{Path: "x", Now: time.Now, spawn: func() (*process, error) { return nil, os.ErrPermission }})
	if err == nil {
		t.Error("there is no child and no error")
	}
}
