package gclog

import (
	"strconv"
	"time"
)

// Metric is one figure by name. A nil value means that the log cannot tell.
type Metric struct {
	Name  string
	Value *Number
}

// Number is an exact decimal number.
type Number struct{ text string }

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) { return []byte(n.text), nil }

// String is the number in decimal.
func (n Number) String() string { return n.text }

// Metrics are the figures by name, in a fixed order: milliseconds, nanoseconds
// and seconds as their names say.
func (f *Figures) Metrics() []Metric {
	stops := f.Stops()
	pauses, safepoints, stalls := f.PausesTold(), stops.Safepoints > 0, f.StallsTold()
	reaching, cpu := stops.ReachingKnown > 0, f.CPULines > 0
	return []Metric{
		count("gc_pause_count", f.Pauses, pauses),
		milli("gc_pause_total_ms", f.PauseTotal, pauses),
		milli("gc_pause_max_ms", f.PauseMax, pauses),
		count("full_gc_count", f.Full, pauses),
		milli("full_gc_total_ms", f.FullTotal, pauses),
		count("young_count", f.Young, pauses),
		count("remark_cleanup_count", f.RemarkCleanup, pauses),
		count("degenerated_count", f.Degenerated, pauses),
		count("humongous_alloc_cause_pauses", f.HumongousCause, pauses),
		count("to_space_exhausted_or_evac_failure", f.EvacuationFailed, pauses),
		count("alloc_stall_count(thread stalls, not STW)", f.Stalls, stalls),
		milli("alloc_stall_total_ms", f.StallTotal, stalls),
		milli("alloc_stall_max_ms", f.StallMax, stalls),
		count("reloc_stall_count", f.RelocationStalls, stalls),
		count("safepoint_count", stops.Safepoints, safepoints),
		count("safepoint_total_ns", int64(stops.SafepointTotal), safepoints),
		count("safepoint_max_ns", int64(stops.SafepointMax), safepoints),
		count("reaching_total_ns", int64(stops.ReachingTotal), reaching),
		count("reaching_max_ns", int64(stops.ReachingMax), reaching),
		count("reaching>=100ms_count", stops.Reaching100, reaching),
		count("ttsp_dominated_count(total>=10ms and reaching>50%)", stops.Dominated, reaching),
		count("cpu_lines", f.CPULines, true),
		hundredths("cpu_user_s", f.User, cpu),
		hundredths("cpu_sys_s", f.Sys, cpu),
		hundredths("cpu_real_s", f.Real, cpu),
		count("blocked_count(real>=0.1 and real>2*(user+sys))", f.Blocked, cpu),
		count("sys_heavy_count(user+sys>=0.05 and sys>user)", f.SysHeavy, cpu),
	}
}

func count(name string, v int64, told bool) Metric {
	if !told {
		return Metric{name, nil}
	}
	return Metric{name, &Number{strconv.FormatInt(v, 10)}}
}

// milli prints milliseconds with as many decimals as the log has: three, and up
// to six where it prints seconds with seven.
func milli(name string, d time.Duration, told bool) Metric {
	return decimals(name, int64(d), 6, 3, told)
}

func hundredths(name string, d time.Duration, told bool) Metric {
	return decimals(name, int64(d), 9, 2, told)
}

// decimals prints v with the decimal point places from the right, and without
// zeros at the end beyond the least number of decimals.
func decimals(name string, v int64, places, least int, told bool) Metric {
	if !told {
		return Metric{name, nil}
	}
	digits := strconv.FormatInt(v, 10)
	for len(digits) <= places {
		digits = "0" + digits
	}
	text := digits[:len(digits)-places] + "." + digits[len(digits)-places:]
	for drop := places - least; drop > 0 && text[len(text)-1] == '0'; drop-- {
		text = text[:len(text)-1]
	}
	return Metric{name, &Number{text}}
}
