package pagecache

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestRolledAndDeleted(t *testing.T) {
	d := newDisk()
	for i := range 4 {
		d.put(segment("/s/commitlog", i), 10, 5)
	}
	b := newBench(t, d, Config{}, rocket)
	b.pass()
	delete(d.files, segment("/s/commitlog", 0))
	delete(d.files, segment("/s/commitlog", 1))
	d.put(segment("/s/commitlog", 4), 10, 1)
	b.pass()
	b.want("files active commitlog", 2)
	b.want("files recent commitlog", 1)
	b.want("resident_bytes active commitlog", 6*fakePage)
	b.want("deleted_files_total commitlog", 2)
	b.want("deleted_bytes_total commitlog", 20*fakePage)
	if len(b.events) != 1 || b.events[0].Count != 2 || b.events[0].Attrs["change"] != "deleted" || b.events[0].Attrs["bytes"] != "81920" {
		t.Errorf("events %+v", b.events)
	}
	if e := b.events[0]; e.To.Sub(e.From) < time.Second || e.To.Sub(e.From) > time.Minute {
		t.Errorf("deleted between %v and %v", e.From, e.To)
	}
}

func TestKafkaRenamesBeforeItDeletes(t *testing.T) {
	d := newDisk()
	for i := range 3 {
		d.put(segment("/k1/t-0", i)+".log", 10, 5)
	}
	d.put(segment("/k1/gone-7", 0)+".log", 4, 4)
	rename := func(from, to string) {
		d.files[to] = d.files[from]
		delete(d.files, from)
	}
	b := newBench(t, d, Config{}, kafka)
	b.pass()
	rename(segment("/k1/t-0", 0)+".log", segment("/k1/t-0", 0)+".log.deleted")
	rename(segment("/k1/gone-7", 0)+".log", segment("/k1/gone-7.0123456789abcdef0123456789abcdef-delete", 0)+".log")
	b.pass()
	b.want("deleted_files_total log kafka-broker", 0)
	for name := range d.files {
		if strings.Contains(name, "delete") {
			delete(d.files, name)
		}
	}
	b.pass()
	b.want("deleted_files_total log kafka-broker", 2)
	b.want("deleted_bytes_total log kafka-broker", 14*fakePage)
}

func TestNothingIsDeletedWhenAllVanishes(t *testing.T) {
	for what, vanish := range map[string]func(d *fakeDisk, dir string){
		"process ends": func(d *fakeDisk, dir string) {
			if dir == "/s/consumequeue" {
				clear(d.files)
			}
		},
		"denied": func(d *fakeDisk, dir string) {
			d.errs["/s/commitlog"], d.errs["/s/consumequeue"] = unix.EACCES, unix.EACCES
		},
		"unmounted": func(d *fakeDisk, dir string) {
			if dir == "/s" {
				clear(d.files)
			}
		},
	} {
		d := newDisk()
		d.put(segment("/s/commitlog", 1), 10, 5)
		d.put(segment("/s/consumequeue/t/0", 1), 10, 5)
		b := newBench(t, d, Config{}, rocket)
		b.pass()
		d.onList = func(dir string) { vanish(d, dir) }
		b.pass()
		b.want("deleted_files_total commitlog", 0)
		b.want("deleted_files_total consumequeue", 0)
		if len(b.events) != 0 {
			t.Errorf("%s: events %+v", what, b.events)
		}
	}
}

func TestTopicsMayGo(t *testing.T) {
	d := newDisk()
	d.put(segment("/s/commitlog", 1), 10, 5)
	d.put(segment("/s/consumequeue/t/0", 1), 10, 5)
	d.put(segment("/s/consumequeue/u/0", 1), 10, 5)
	b := newBench(t, d, Config{}, rocket)
	b.pass()
	d.onList = func(dir string) { // while it is listed
		if dir == "/s/consumequeue/t" {
			delete(d.files, segment("/s/consumequeue/t/0", 1))
		}
	}
	b.pass()
	b.want("deleted_files_total consumequeue", 1)
	if b.coverage != nil {
		t.Errorf("coverage %v", b.coverage)
	}
}

func TestVanishedFileIsNoGap(t *testing.T) {
	d := newDisk()
	d.put(segment("/s/commitlog", 0), 10, 5)
	d.put(segment("/s/commitlog", 1), 10, 5)
	d.errs[segment("/s/commitlog", 0)] = unix.ENOENT
	b := newBench(t, d, Config{}, rocket)
	b.pass()
	b.want("files active commitlog", 1)
	if b.coverage != nil {
		t.Errorf("coverage %v", b.coverage)
	}
}

func TestSizeOfWhatIsDeleted(t *testing.T) {
	for _, c := range []struct {
		d    deletion
		want string
	}{
		{deletion{3, 3 << 20, 3}, ", 3.0 MiB"},
		{deletion{3, 1 << 20, 1}, ", 1 of them 1.0 MiB"},
		{deletion{3, 0, 0}, " of unknown size"},
	} {
		if got := c.d.size(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.d, got, c.want)
		}
	}
}
