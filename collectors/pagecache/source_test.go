package pagecache

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/collectors"
	"stallmark/collectors/process"
	"stallmark/storage/model"
)

func TestSumsByKindAndAge(t *testing.T) {
	d := newDisk()
	for i := range 5 { // pages resident: 10, 20, 30, 40, 50
		d.put(segment("/s/commitlog", i), 64, 10+10*i)
	}
	d.files[segment("/s/commitlog", 0)].modified = epoch.Add(-time.Hour)
	d.files[segment("/s/commitlog", 1)].modified = epoch.Add(-time.Hour)
	d.files[segment("/s/commitlog", 4)].dirty = 7
	d.put(segment("/s/consumequeue/%RETRY%group/0", 0), 3, 2)
	d.put("/s/index/20260102030405678", 8, 8)
	d.put("/s/lock", 1, 1)
	b := newBench(t, d, Config{}, rocket)
	b.beat()
	b.wantGap(model.SourcePartial, "under way")
	b.wantNone("resident_bytes old commitlog")
	b.pass()
	if b.coverage != nil {
		t.Errorf("coverage %v", b.coverage)
	}
	b.want("resident_bytes old commitlog", 30*fakePage)
	b.want("resident_bytes recent commitlog", 30*fakePage)
	b.want("resident_bytes active commitlog", 90*fakePage)
	b.want("dirty_bytes active commitlog", 7*fakePage)
	b.want("file_bytes old commitlog", 128*fakePage)
	b.want("files active commitlog", 2)
	b.want("resident_bytes active consumequeue", 2*fakePage)
	b.want("resident_bytes active index", 8*fakePage)
	b.want("filled_bytes_total old commitlog", 0)
	b.want("deleted_files_total commitlog", 0)
	if slices.Contains(d.opened, "/s/lock") {
		t.Error("opened a file that holds no messages")
	}
	if d.open_ != 0 {
		t.Errorf("%d files are still open", d.open_)
	}
}

func TestKafkaSums(t *testing.T) {
	d := newDisk()
	for _, dir := range []string{"/k1/t-0", "/k2/t-1"} {
		d.put(segment(dir, 0)+".log", 16, 4)
		d.put(segment(dir, 9)+".log", 16, 8)
		d.put(segment(dir, 9)+".index", 2, 1)
		d.put(segment(dir, 9)+".timeindex", 2, 1)
		d.put(segment(dir, 9)+".snapshot", 1, 1)
		d.put(dir+"/leader-epoch-checkpoint", 1, 1)
	}
	b := newBench(t, d, Config{Recent: time.Hour}, kafka)
	b.pass()
	b.want("resident_bytes active log kafka-broker", 16*fakePage)
	b.want("resident_bytes recent log kafka-broker", 8*fakePage)
	b.want("resident_bytes active index kafka-broker", 4*fakePage)
	b.want("resident_bytes active other kafka-broker", 2*fakePage)
}

func TestOldBytesThatComeIn(t *testing.T) {
	d := newDisk()
	for i := range 4 {
		d.put(segment("/s/commitlog", i), 64<<10, 0)
	}
	d.now = epoch.Add(time.Hour)
	b := newBench(t, d, Config{}, rocket)
	b.at = d.now
	b.pass()
	first := b.at
	for i := range 3000 { // one part is read, another leaves
		d.files[segment("/s/commitlog", 1)].resident[20<<10+i] = true
	}
	b.pass()
	for i := range 2000 {
		d.files[segment("/s/commitlog", 1)].resident[20<<10+i] = false
		d.files[segment("/s/commitlog", 1)].resident[50<<10+i] = true
	}
	b.pass()
	b.want("filled_bytes_total old commitlog", 5000*fakePage)
	b.want("dropped_bytes_total old commitlog", 2000*fakePage)
	if len(b.events) != 2 {
		t.Fatalf("%d events, want two", len(b.events))
	}
	e := b.events[0]
	if e.Kind != model.EventFiles || e.Attrs["change"] != "read" || e.Attrs["file"] != segment("commitlog", 1) || e.Attrs["bytes"] != fmt.Sprint(3000*fakePage) {
		t.Errorf("event %+v", e)
	}
	if e.From.After(first) || !e.To.After(first) {
		t.Errorf("event from %v to %v, want around %v", e.From, e.To, first)
	}
}

func TestAnotherFileUnderTheName(t *testing.T) {
	d := newDisk()
	name := segment("/s/commitlog", 0)
	d.put(name, 640, 0)
	b := newBench(t, d, Config{}, rocket)
	b.pass()
	d.put(name, 640, 640)
	b.pass()
	b.want("resident_bytes active commitlog", 640*fakePage)
	b.want("filled_bytes_total active commitlog", 0)
}

func TestGrowthIsNotReading(t *testing.T) {
	d := newDisk()
	name := segment("/k1/t-0", 0) + ".log"
	d.put(name, 100, 50)
	ino := d.files[name].ino
	b := newBench(t, d, Config{}, kafka)
	b.pass()
	d.put(name, 300, 260).ino = ino
	b.pass()
	b.want("filled_bytes_total active log kafka-broker", 10*fakePage)
}

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

func TestHostileNamesAreLeftAlone(t *testing.T) {
	d := newDisk()
	good := segment("/s/consumequeue/topic_1.x%y|z/3", 6000000)
	d.put(good, 2, 1)
	for _, name := range []string{
		"/s/commitlog/0000000000000000000\n", "/s/commitlog/000000000000000000000", "/s/commitlog/0000000000000000000a", "/s/commitlog/-0000000000000000001",
		"/s/consumequeue/<script>/0/00000000000000000000", "/s/consumequeue/a\x00b/0/00000000000000000000",
		"/s/consumequeue/.hidden/0/00000000000000000000", "/s/consumequeue/t\u00e9/0/00000000000000000000", "/s/consumequeue/t/zero/00000000000000000000",
		"/s/consumequeue/" + strings.Repeat("x", 300) + "/0/00000000000000000000", "/s/index/2026010203040567", "/s/secrets/00000000000000000000",
	} {
		d.put(name, 2, 2)
	}
	b := newBench(t, d, Config{}, rocket)
	b.pass()
	if !slices.Equal(d.opened, []string{good}) {
		t.Errorf("opened %q", d.opened)
	}
}

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

func TestWhyNot(t *testing.T) {
	segment0 := segment("/s/commitlog", 0)
	for what, c := range map[string]struct {
		change func(d *fakeDisk)
		state  model.SourceState
		words  []string
	}{
		"folder denied": {func(d *fakeDisk) { d.errs["/s"] = unix.EACCES }, model.SourceDenied, []string{"rocketmq-broker", "permission denied", "CAP_SYS_PTRACE"}},
		"no store":      {func(d *fakeDisk) { clear(d.files) }, model.SourceAbsent, []string{"not there"}},
		"file denied":   {func(d *fakeDisk) { d.errs[segment0] = unix.EPERM }, model.SourceDenied, []string{"CAP_DAC_READ_SEARCH"}},
		"refused":       {func(d *fakeDisk) { d.errs[segment0] = process.ErrRefused }, model.SourceDenied, []string{"refused"}},
		"withheld":      {func(d *fakeDisk) { d.files[segment0].secret = true }, model.SourceDenied, []string{"CAP_FOWNER"}},
		"old kernel":    {func(d *fakeDisk) { d.bars = unix.ENOSYS }, model.SourcePartial, []string{"6.5"}},
		"withheld on an old kernel": {func(d *fakeDisk) {
			d.bars, d.files[segment0].secret = unix.ENOSYS, true
		}, model.SourcePartial, []string{"CAP_FOWNER", "6.5"}},
		"sandbox":   {func(d *fakeDisk) { d.bars = unix.EPERM }, model.SourcePartial, []string{"seccomp"}},
		"overlayfs": {func(d *fakeDisk) { d.files[segment0].layered = true }, model.SourcePartial, []string{"overlayfs"}},
		"zfs":       {func(d *fakeDisk) { d.files[segment0].foreign = true }, model.SourceAbsent, []string{"ZFS"}},
		"disk":      {func(d *fakeDisk) { d.errs[segment0] = unix.EIO }, model.SourceFailed, []string{"input/output"}},
		"too large": {func(d *fakeDisk) { d.files[segment0].size, d.cost = 1<<61, time.Millisecond }, model.SourcePartial, []string{"too large"}},
	} {
		t.Run(what, func(t *testing.T) {
			d := newDisk()
			d.put(segment0, 10, 5)
			c.change(d)
			b := newBench(t, d, Config{}, rocket)
			b.pass()
			b.wantGap(c.state, c.words...)
			if strings.Contains(b.coverage.Error(), "00000") {
				t.Errorf("%v tells a file's name", b.coverage)
			}
			resident, told := b.values["resident_bytes active commitlog"]
			if byMincore := what == "old kernel" || what == "sandbox" || what == "overlayfs"; told != byMincore || told && resident != 5*fakePage {
				t.Errorf("resident %v %v", resident, told)
			}
			b.wantNone("dirty_bytes active commitlog")
		})
	}
}

func TestNobodyToLookAt(t *testing.T) {
	b := newBench(t, newDisk(), Config{})
	b.beat()
	b.wantGap(model.SourceAbsent, "no broker")
	unknown := rocket
	unknown.Store = ""
	b = newBench(t, newDisk(), Config{}, unknown)
	b.pass()
	b.wantGap(model.SourcePartial, "rocketmq-broker", "not known")
}

func TestRecordingHoldsNoPageCache(t *testing.T) {
	s := New(Config{})
	out := collectors.NewOut("pagecache")
	out.Reset(epoch)
	b := &bench{t: t, coverage: s.Collect(&collectors.MapRoot{}, out)}
	b.wantGap(model.SourceAbsent, "recording")
	if len(out.Samples()) != 0 {
		t.Error("there are samples")
	}
}

func TestMeasuredHostIsLeftAlone(t *testing.T) {
	for line, unfit := range map[string]bool{
		"ro ima_policy=tcb quiet": true, "ima_tcb": true, "ima_policy=appraise_tcb|tcb": true,
		"ro ima_policy=secure_boot": false, "ro quiet": false, "": false,
	} {
		d := newDisk()
		d.put(segment("/s/commitlog", 0), 10, 5)
		b := newBench(t, d, Config{}, rocket)
		b.root = &collectors.MapRoot{Files: map[string][]byte{"proc/cmdline": []byte(line + "\n")}}
		for range 4 {
			b.beat()
		}
		if opened := len(d.opened) > 0; opened == unfit {
			t.Errorf("%q: opened %v", line, opened)
		}
		if unfit {
			b.wantGap(model.SourceAbsent, "measure")
		}
	}
}

func TestHangEndsTheSeries(t *testing.T) {
	d := newDisk()
	d.put(segment("/s/commitlog", 0), 10, 5)
	b := newBench(t, d, Config{}, rocket)
	b.pass()
	b.want("resident_bytes active commitlog", 5*fakePage)
	d.gate = make(chan struct{})
	for range 45 { // the next pass begins and hangs
		if b.source.running.IsZero() && b.source.pass != nil && len(b.source.pass.jobs) == 0 {
			b.beat()
		} else {
			b.collect()
			if !b.source.running.IsZero() && len(b.source.pass.jobs) == 0 {
				waitAnswer(b)
			}
		}
	}
	b.wantGap(model.SourceFailed, "no answer")
	b.wantNone("resident_bytes active commitlog")
	close(d.gate)
	waitAnswer(b)
	b.pass()
	b.want("resident_bytes active commitlog", 5*fakePage)
}

func waitAnswer(b *bench) {
	<-b.source.slice
	b.source.slice <- struct{}{}
}

func TestBrokerGoes(t *testing.T) {
	d := newDisk()
	d.put(segment("/s/commitlog", 0), 10, 5)
	brokers := []Broker{rocket}
	b := newBench(t, d, Config{Brokers: func() []Broker { return brokers }})
	b.pass()
	brokers = nil
	b.beat()
	b.wantNone("resident_bytes active commitlog")
	if len(b.source.Snapshot()) != 0 || len(b.events) != 0 {
		t.Errorf("%d files, events %+v of a broker that is gone", len(b.source.Snapshot()), b.events)
	}
}

func TestSnapshot(t *testing.T) {
	d := newDisk()
	f := d.put(segment("/s/commitlog", 0), 640, 15)
	f.dirty = 3
	d.put(segment("/s/commitlog", 1), 2, 1)
	b := newBench(t, d, Config{}, rocket)
	b.pass()
	files := b.source.Snapshot()
	if len(files) != 2 {
		t.Fatalf("%+v", files)
	}
	got := files[0]
	if got.Process != "rocketmq-broker" || got.Pid != 42 || got.Store != "/s" || got.Path != segment("commitlog", 0) ||
		got.Kind != CommitLog || got.Age != Active || got.Size != 640*fakePage || got.Resident != 15*fakePage || got.Detail.Dirty != 3*fakePage {
		t.Errorf("%+v", got)
	}
	if len(got.Parts) != 64 || got.Parts[0] != 1 || got.Parts[1] != 0.5 || got.Parts[2] != 0 {
		t.Errorf("parts %v", got.Parts)
	}
	if !slices.Equal(files[1].Parts, []float64{1, 0}) {
		t.Errorf("parts of two pages %v", files[1].Parts)
	}
}

func TestSnapshotWhileSampling(t *testing.T) {
	d := newDisk()
	for i := range 50 {
		d.put(segment("/s/commitlog", i), 100, 50)
	}
	b := newBench(t, d, Config{Every: 2 * time.Second}, rocket)
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					for _, f := range b.source.Snapshot() {
						_ = f.Parts[0]
					}
				}
			}
		})
	}
	for range 200 {
		b.beat()
	}
	close(stop)
	readers.Wait()
}
