package trace

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// maxCPUs bounds what a CPU list may name.
const maxCPUs = 8192

// onlineCPUs reads the CPUs that are online.
func onlineCPUs(root collectors.Root) ([]int, error) {
	const name = "sys/devices/system/cpu/online"
	data, err := root.Read(name, nil)
	if err != nil {
		return nil, collectors.GapOf(name, err, "")
	}
	cpus, err := parseCPUs(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return cpus, nil
}

// parseCPUs reads a list like "0-3,8".
func parseCPUs(data []byte) ([]int, error) {
	var cpus []int
	for part := range bytes.SplitSeq(bytes.TrimSpace(data), []byte(",")) {
		first, last, isRange := bytes.Cut(part, []byte("-"))
		if !isRange {
			last = first
		}
		a, err := strconv.Atoi(string(first))
		b, err2 := strconv.Atoi(string(last))
		if err != nil || err2 != nil || a < 0 || b < a || b >= maxCPUs || len(cpus)+b-a >= maxCPUs {
			return nil, fmt.Errorf("CPU list %.80q", data)
		}
		for ; a <= b; a++ {
			cpus = append(cpus, a)
		}
	}
	return cpus, nil
}

// openGap says why the tracepoints cannot be opened and what would help.
func openGap(root collectors.Root, err error) error {
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		detail := err.Error()
		level, e := root.Read("proc/sys/kernel/perf_event_paranoid", nil)
		if e == nil {
			detail += fmt.Sprintf(" (kernel.perf_event_paranoid is %s)", clean(level))
		}
		return collectors.Denied(detail, rights(level)+"; "+
			"in a container a seccomp profile that allows perf_event_open; kernel lockdown forbids it")
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP):
		return collectors.Absent(err.Error(), "a kernel with CONFIG_PERF_EVENTS and CONFIG_EVENT_TRACING")
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		return &collectors.Gap{
			State: model.SourceFailed, Detail: err.Error(),
			Mend: "a higher limit of open files: seven a CPU are needed",
		}
	}
	if _, ok := errors.AsType[*collectors.Gap](err); ok {
		return err
	}
	return fmt.Errorf("tracepoints cannot be opened: %w", err)
}

// rights are what opens tracepoints at a level of kernel.perf_event_paranoid.
// Kernels of Debian and Ubuntu have levels above 2, at which CAP_PERFMON is not
// enough (seen on Debian's 6.12).
func rights(level []byte) string {
	if n, err := strconv.Atoi(string(bytes.TrimSpace(level))); err == nil && n > 2 {
		return "CAP_PERFMON with sysctl kernel.perf_event_paranoid=2, or CAP_SYS_ADMIN: above 2, kernels of Debian and Ubuntu do not let CAP_PERFMON in"
	}
	return "CAP_PERFMON (CAP_SYS_ADMIN before 5.8), or sysctl kernel.perf_event_paranoid=-1"
}

// droppings counts the records that were not looked at, by reason.
type droppings struct {
	taken                    float64
	lost, skipped, damaged   float64
	last                     time.Time
	any                      bool
	takenSeries              *model.Series
	lostSeries               *model.Series
	skippedSeries, badSeries *model.Series
}

func newDroppings() droppings {
	const name = "stallmark_trace_records_dropped_total"
	return droppings{
		takenSeries:   model.NewSeries("stallmark_trace_records_total"),
		lostSeries:    model.NewSeries(name, "reason", "ring"),
		skippedSeries: model.NewSeries(name, "reason", "budget"),
		badSeries:     model.NewSeries(name, "reason", "damaged"),
	}
}

// add counts a drain and reports whether anything was dropped in it.
func (d *droppings) add(o Drained, at time.Time) bool {
	d.any = true
	d.taken += float64(o.Taken)
	d.lost += float64(o.Lost)
	d.skipped += float64(o.Skipped)
	d.damaged += float64(o.Damaged)
	if o.Lost+o.Skipped+o.Damaged == 0 {
		return false
	}
	d.last = at
	return true
}

// lately reports whether something was dropped in the last minute, so that the
// coverage does not change to and fro.
func (d *droppings) lately(at time.Time) bool {
	return !d.last.IsZero() && at.Sub(d.last) < time.Minute
}

// emit gives the counters once there has been a drain.
func (d *droppings) emit(out *collectors.Out) {
	if !d.any {
		return
	}
	out.Add(d.takenSeries, d.taken)
	out.Add(d.lostSeries, d.lost)
	out.Add(d.skippedSeries, d.skipped)
	out.Add(d.badSeries, d.damaged)
}
