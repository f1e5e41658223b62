package pagecache

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"stallmark/collectors"
	"stallmark/collectors/process"
	"stallmark/storage/model"
)

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
		b.collect()
	}
	b.wantGap(model.SourceFailed, "no answer")
	b.wantNone("resident_bytes active commitlog")
	close(d.gate)
	<-b.source.slice
	b.source.slice <- struct{}{}
	b.pass()
	b.want("resident_bytes active commitlog", 5*fakePage)
}

func TestMoreFilesThanAreLookedAt(t *testing.T) {
	d := newDisk()
	for i := range maxFiles + 50 {
		d.put(segment("/s/commitlog", i), 1, 1)
	}
	d.put(segment("/s/consumequeue/t/0", 0), 1, 1)
	b := newBench(t, d, Config{}, rocket)
	b.pass()
	b.wantGap(model.SourcePartial, "left out")
	for i := range 100 {
		delete(d.files, segment("/s/commitlog", i))
	}
	b.pass()
	b.want("deleted_files_total commitlog", 100) // now all are known
	if b.coverage != nil {
		t.Errorf("coverage %v", b.coverage)
	}
	for i := range 100 {
		d.put(segment("/s/commitlog", i), 1, 1) // others are left out again, and not deleted
	}
	b.pass()
	b.want("deleted_files_total commitlog", 100)
}
