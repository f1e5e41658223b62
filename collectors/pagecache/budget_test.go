package pagecache

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestBudget(t *testing.T) {
	d := newDisk()
	for i := range 200 {
		d.put(segment("/s/commitlog", i), 128, 1)
	}
	d.cost = 100 * time.Microsecond // 6.4 ms a file
	b := newBench(t, d, Config{Budget: 20 * time.Millisecond, Every: time.Hour}, rocket)
	for range 60 {
		before, opened := b.source.worked, len(d.opened)
		b.beat()
		if n := len(d.opened) - opened; n > 4 {
			t.Fatalf("%d files in a beat", n)
		}
		if spent := b.source.worked - before; spent > 27*time.Millisecond {
			t.Fatalf("%v spent in a beat", spent)
		}
	}
	if spent := b.source.worked; spent > 60*20*time.Millisecond+7*time.Millisecond || spent < 1100*time.Millisecond {
		t.Errorf("%v spent in a minute of work, want 1.2 s", spent)
	}
	b.want("looking_seconds_total", b.source.worked.Seconds())
}

func TestOnePercentOfTheTime(t *testing.T) {
	d := newDisk()
	for i := range 100 {
		d.put(segment("/s/commitlog", i), 128, 1)
	}
	d.cost = 200 * time.Microsecond // 12.8 ms a file, 1.3 s for all
	b := newBench(t, d, Config{}, rocket)
	for range 600 {
		b.beat()
	}
	if spent := b.source.worked; spent < 4*time.Second || spent > 6300*time.Millisecond {
		t.Errorf("%v spent in ten minutes, want about 6 s", spent)
	}
	if n := len(b.source.Snapshot()); n != 100 {
		t.Errorf("%d of 100 files were looked at", n)
	}
	d.cost, d.listCost = 0, time.Second // now it is the folders that take long
	before := b.source.worked
	for range 3600 {
		b.beat()
	}
	if spent := b.source.worked - before; spent > 40*time.Second {
		t.Errorf("%v spent on folders in an hour, want 36 s at most", spent)
	}
}

func TestEverythingGetsItsTurn(t *testing.T) {
	d := newDisk()
	for i := range 30 {
		d.put(segment("/s/commitlog", i), 4, 1)
		d.put(segment("/s/consumequeue/t/0", i), 4, 1)
	}
	for i := range 9 {
		d.put(segment(fmt.Sprintf("/s/consumequeue/u/%d", i), 0), 4, 1)
	}
	b := newBench(t, d, Config{MaxFiles: 8}, rocket)
	for pass := range 20 {
		d.opened = nil
		b.pass()
		if len(d.opened) > 8 {
			t.Errorf("%d files in a pass", len(d.opened))
		}
		if newest := segment("/s/commitlog", 29); !slices.Contains(d.opened, newest) {
			t.Errorf("pass %d left out the newest segment", pass)
		}
	}
	if n := len(b.source.Snapshot()); n != len(d.files) {
		t.Errorf("%d of %d files were looked at in twenty passes", n, len(d.files))
	}
}

func TestBytesOfAPassAreBounded(t *testing.T) {
	d := newDisk()
	for i := range 10 {
		d.put(segment("/s/commitlog", i), 100, 1)
	}
	b := newBench(t, d, Config{MaxBytes: 250 * fakePage}, rocket)
	b.pass() // the lengths are learned
	d.opened = nil
	b.pass()
	if len(d.opened) != 3 {
		t.Errorf("%d files of 100 pages, want 3", len(d.opened))
	}
}

func TestCadence(t *testing.T) {
	d := newDisk()
	d.put(segment("/s/commitlog", 0), 4, 1)
	alert := false
	b := newBench(t, d, Config{Alert: func() bool { return alert }}, rocket)
	count := func() int {
		d.opened = nil
		for range 60 {
			b.beat()
		}
		return len(d.opened)
	}
	if n := count(); n != 2 {
		t.Errorf("%d looks in a minute, want 2", n)
	}
	if alert = true; count() < 11 {
		t.Errorf("%d looks in a minute on alert, want 12", len(d.opened))
	}
}
