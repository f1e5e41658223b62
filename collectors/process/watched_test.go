package process

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestWatched(t *testing.T) {
	w := NewWatched()
	if _, _, ok := w.Watched(42); ok {
		t.Error("somebody is watched before anybody was found")
	}
	b := newBench(t, Config{Files: fakeFiles{}, Watched: w})
	tree := newBrokerTree()
	b.beat(tree)
	if name, pid, ok := w.Watched(42); name != roleKafkaBroker || pid != 42 || !ok {
		t.Errorf("%q %d %v, want the broker", name, pid, ok)
	}
	if _, _, ok := w.Watched(43); ok {
		t.Error("another process is watched")
	}
	tree.drop(42)
	for name := range tree.Files {
		if len(name) > 8 && name[:8] == "proc/42/" {
			delete(tree.Files, name)
		}
	}
	b.beat(tree)
	if _, _, ok := w.Watched(42); ok {
		t.Error("the broker is watched after its end")
	}
}

func TestAlertLooksAtSleepersMoreOften(t *testing.T) {
	reads := func(alert bool) int {
		tree := newBrokerTree()
		tree.thread(43, "idle", 'S', 0, 5, futex...)
		b := newBench(t, Config{Files: fakeFiles{}, Alert: func() bool { return alert }})
		b.beat(tree)
		c := &counting{tree, map[string]int{}}
		for range 16 {
			b.beat(c)
		}
		return c.reads["proc/42/task/43/schedstat"]
	}
	if calm, alert := reads(false), reads(true); alert < calm*3/2 {
		t.Errorf("%d looks on alert, %d without", alert, calm)
	}
}

func TestTheFirstBeatWaitsForTheDiscovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := NewWatched()
		time.AfterFunc(10*time.Millisecond, func() { w.table.publish([]*watched{newWatched(ID{Pid: 7})}) })
		began := time.Now()
		if _, _, ok := w.Watched(7); !ok || time.Since(began) != 10*time.Millisecond {
			t.Errorf("%v after %v, want the process after 10ms", ok, time.Since(began))
		}
		synctest.Wait()
	})
	synctest.Test(t, func(t *testing.T) { // a discovery that hangs holds nobody up for long
		w := NewWatched()
		began := time.Now()
		for range 3 {
			if _, _, ok := w.Watched(7); ok || time.Since(began) != firstWait {
				t.Errorf("%v after %v, want nobody after %v", ok, time.Since(began), firstWait)
			}
		}
		w.table.publish([]*watched{newWatched(ID{Pid: 7})})
		if _, _, ok := w.Watched(7); !ok {
			t.Error("what was published late is not seen")
		}
	})
}
