package trace

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/collectors"
	"stallmark/storage/model"
)

func TestSourceGaps(t *testing.T) {
	noTracefs := func(l *lab) {
		for name := range l.root.Files {
			if strings.Contains(name, "tracing") {
				delete(l.root.Files, name)
			}
		}
	}
	tests := map[string]struct {
		change func(*lab)
		state  model.SourceState
		detail string
		mend   string
	}{
		"recording":   {func(l *lab) { l.source.cfg.Open = nil }, model.SourceAbsent, "no live kernel", ""},
		"not mounted": {noTracefs, model.SourceAbsent, "not mounted", "mount -t tracefs nodev"},
		"not root": {func(l *lab) {
			l.root.Errs["sys/kernel/tracing/events"] = unix.EACCES
		}, model.SourceDenied, "tracefs cannot be read", "CAP_DAC_READ_SEARCH"},
		"no capability": {func(l *lab) {
			l.refuse = fmt.Errorf("perf_event_open: %w", unix.EACCES)
		}, model.SourceDenied, "perf_event_paranoid is 2", "CAP_PERFMON"},
		"Debian": {func(l *lab) {
			l.root.Files["proc/sys/kernel/perf_event_paranoid"] = []byte("3\n")
			l.refuse = fmt.Errorf("perf_event_open: %w", unix.EACCES)
		}, model.SourceDenied, "perf_event_paranoid is 3", "CAP_PERFMON with sysctl kernel.perf_event_paranoid=2"},
		"seccomp": {func(l *lab) { l.refuse = unix.EPERM }, model.SourceDenied, "not permitted", "seccomp"},
		"no perf": {func(l *lab) { l.refuse = unix.ENOSYS }, model.SourceAbsent, "not implemented", "CONFIG_PERF_EVENTS"},
		"files":   {func(l *lab) { l.refuse = unix.EMFILE }, model.SourceFailed, "too many open files", "limit"},
		"other":   {func(l *lab) { l.refuse = unix.ENOSPC }, model.SourceFailed, "no space", ""},
		"garbled": {func(l *lab) { l.root.Files[dirtyFormat] = []byte("ID: ?") }, model.SourceFailed, "balance_dirty_pages", ""},
		"cpus": {func(l *lab) {
			l.root.Files["sys/devices/system/cpu/online"] = []byte("0-9999999")
		}, model.SourceFailed, "CPU list", ""},
		"no memcg": {func(l *lab) {
			delete(l.root.Files, "sys/kernel/tracing/events/vmscan/mm_vmscan_memcg_reclaim_end/format")
		}, model.SourcePartial, "vmscan:mm_vmscan_memcg_reclaim_end", ""},
		"another pause": {func(l *lab) {
			l.root.Files[dirtyFormat] = []byte("ID: 985\n\tfield:long paused;\toffset:8;\tsize:8;\n")
		}, model.SourcePartial, "balance_dirty_pages with a pause", ""},
		"pressure": {func(l *lab) {
			l.root.Errs["proc/pressure/memory"] = unix.EIO
		}, model.SourcePartial, "pressure cannot be read", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			tt.change(l)
			err := l.beat(0, 0)
			gap, _ := errors.AsType[*collectors.Gap](err)
			if gap == nil {
				gap = &collectors.Gap{State: model.SourceFailed, Detail: fmt.Sprint(err)}
			}
			if gap.State != tt.state || !strings.Contains(gap.Detail, tt.detail) || !strings.Contains(gap.Mend, tt.mend) {
				t.Errorf("gap %+v, want %s, %q and %q", gap, tt.state, tt.detail, tt.mend)
			}
			l.source.Close()
		})
	}
}

func TestSourceTriesAgainAfterAMinute(t *testing.T) {
	l := newLab(t)
	l.refuse = unix.EPERM
	for s := range 100 {
		_ = l.beat(time.Duration(s)*time.Second, 0)
	}
	if len(l.opened) != 2 {
		t.Errorf("%d attempts in 100 s, want 2", len(l.opened))
	}
	l.refuse = nil
	if err := l.beat(120*time.Second, 0); gapState(err) != model.SourceOK {
		t.Errorf("coverage %v", err)
	}
	l.refuse = unix.EMFILE // in the storm itself
	if err := l.beat(121*time.Second, time.Second); gapState(err) != model.SourceFailed {
		t.Errorf("coverage %v", err)
	}
	l.source.Close()
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"java\n": "java", "a\x1b[31mb\nsecond": "a?[31mb", "\xff\xfe": "??", strings.Repeat("x", 100): strings.Repeat("x", 64), "": "",
	} {
		if got := clean([]byte(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestParseCPUs(t *testing.T) {
	for in, want := range map[string]string{
		"0\n": "[0]", "0-3,8,10-11\n": "[0 1 2 3 8 10 11]", "": "", "3-1": "", "x": "", "0-8192": "", "-1": "", "0-8000,0-8000": "",
	} {
		cpus, err := parseCPUs([]byte(in))
		if (err != nil) != (want == "") || err == nil && fmt.Sprint(cpus) != want {
			t.Errorf("%q: %v, %v; want %s", in, cpus, err, want)
		}
	}
}

func TestTalliesAreBounded(t *testing.T) {
	var ts tallies
	for pid := 1; pid < 3*maxTallies; pid++ {
		ts.of(tallyKey{owner{"p", pid}, "reclaim"}).add(wait{point: &points[0], done: true})
	}
	if len(ts.order) > maxTallies+1 {
		t.Errorf("%d tallies", len(ts.order))
	}
	if host := ts.of(tallyKey{owner{hostName, 0}, "reclaim"}); host.waits == 0 {
		t.Error("what was over went nowhere")
	}
}
