package storage

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"stallmark/storage/model"
)

// TestStuckChildCostsOneWait has a child that runs and answers nothing, as one
// does that reads from a frozen disk: the first questions wait once, together,
// those after them not at all, and a child that answers again is found out.
func TestStuckChildCostsOneWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answers atomic.Bool
		var asked atomic.Int32
		answers.Store(true)
		s := openFake(t, func(out *wire, m message) {
			if m.kind == msgAsk {
				asked.Add(1)
				if answers.Load() {
					out.send(msgEnd, m.id, nil)
				}
			} else {
				out.send(msgPing, 0, nil)
			}
		})
		beats := int64(0)
		ask := func() error {
			beats++
			feed(s, beats, 1) // is answered with a ping
			synctest.Wait()
			_, err := s.EventsIn(context.Background(), time.Time{}, s.opened)
			return err
		}
		if err := ask(); err != nil {
			t.Fatal(err)
		}
		answers.Store(false)
		began := time.Now()
		var wait sync.WaitGroup
		for range 5 {
			wait.Go(func() {
				if _, err := s.EventsIn(context.Background(), time.Time{}, s.opened); !errors.Is(err, ErrPartial) {
					t.Errorf("a stuck child: %v", err)
				}
			})
		}
		wait.Wait()
		if took := time.Since(began); took != wordWait {
			t.Errorf("the first questions took %v, want %v", took, wordWait)
		}
		before, began := asked.Load(), time.Now()
		for range 100 {
			if err := ask(); !errors.Is(err, ErrPartial) {
				t.Fatalf("a stuck child: %v", err)
			}
		}
		if took := time.Since(began); took != 0 || asked.Load() > before+1 {
			t.Errorf("100 questions took %v, and %d were put", took, asked.Load()-before)
		}
		if st := s.Status(); st.ChildUp || st.ChildError == "" {
			t.Errorf("status %+v", st)
		}
		answers.Store(true)
		for range 11 {
			time.Sleep(time.Second)
			ask()
		}
		if err := ask(); err != nil || !s.Status().ChildUp {
			t.Errorf("it answers again: %v, %+v", err, s.Status())
		}
	})
}

// TestSlowAnswerIsNoStuckChild has a child whose answers come word by word.
func TestSlowAnswerIsNoStuckChild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openFake(t, func(out *wire, m message) {
			if m.kind != msgAsk || strings.Contains(string(m.body), string(askSync)) {
				return
			}
			go func() {
				for range 2 {
					time.Sleep(wordWait - time.Second/2)
					out.send(msgPart, m.id, []byte("[]"))
				}
				out.send(msgEnd, m.id, nil)
			}()
		})
		if _, err := s.EventsIn(context.Background(), time.Time{}, s.opened); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if st := s.Status(); !st.ChildUp {
			t.Errorf("status %+v", st)
		}
		time.Sleep(10 * time.Second) // the last words are said
	})
}

// TestEndWithAStuckChild closes the store while no child takes anything: the
// time that is given is kept, and what is lost is said.
func TestEndWithAStuckChild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openSilent(t)
		feed(s, 0, 10)
		s.Event(model.Event{Text: "x"})
		began := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		err := s.Close(ctx)
		if took := time.Since(began); took > time.Second+closeGrace {
			t.Errorf("closing took %v", took)
		}
		if err == nil || !strings.Contains(err.Error(), "10 beats and 1 events") || !strings.Contains(err.Error(), "lost") {
			t.Errorf("closing says %v", err)
		}
	})
}

// TestEndWithAStoppedChild stops the child and closes the store: another child
// takes what the stopped one has not confirmed, and nothing is lost.
func TestEndWithAStoppedChild(t *testing.T) {
	s := openReal(t, dbPath(t))
	want := feed(s.Store, 0, 200)
	s.drained(t)
	stopProcess(t, s.Status().ChildPID)
	want = add(want, feed(s.Store, 200, 150))
	at := time.UnixMilli(base).UTC()
	s.Event(model.Event{From: at, To: at, Text: "the last word"})
	s.shut(t)
	s = openTest(t, s.path, func(o *Options) { o.Now = func() time.Time { return at.Add(10 * time.Minute) } })
	checkSamples(t, selectAll(t, s.Store, 0, math.MaxInt64, "__name__", ".+"), want)
	events, err := s.EventsIn(context.Background(), at, at)
	if err != nil || len(events) != 1 || events[0].Text != "the last word" {
		t.Errorf("events %v, %v", events, err)
	}
}
