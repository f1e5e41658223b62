package pasted

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"stallmark/collectors/process"
	"stallmark/storage/model"
)

var (
	// mm/oom_kill.c: dump_header; mm/page_alloc.c: warn_alloc. What stands before the
	// task's name is the log's.
	memoryEventLine = regexp.MustCompile(`^(?:.*? kernel: ?)?(?:\s*\[[^\]]*\])*\s*(.{1,64}?)(?: invoked oom-killer: |: page allocation (failure|stalls for ([0-9]+) ?ms)[,:.]? ?)(.*)$`)
	orderOf         = regexp.MustCompile(`order[:=] ?(-?[0-9]+)`)
	zoneLine        = regexp.MustCompile(`(Node [0-9]+ )?(\w+) free:([0-9]+)kB (?:boost:[0-9]+kB )?min:([0-9]+)kB low:([0-9]+)kB`)
	usageLine       = regexp.MustCompile(`memory: usage ([0-9]+)kB, limit ([0-9]+)kB, failcnt ([0-9]+)`)
	victimLine      = regexp.MustCompile(`(Memory cgroup o|O)ut of memory.*?: Kill(?:ed)? process ([0-9]+),?(?: UID [0-9]+,)? \(([^)]*)\)(?:.*?anon-rss:([0-9]+)kB)?|Killed process ([0-9]+) \(([^)]*)\)(?:.*?anon-rss:([0-9]+)kB)?`)
	// What stands in such a report, whatever stands before it on the line.
	reportLine = regexp.MustCompile(`(?:CPU: ?[0-9]+|Hardware name|Workqueue|Call Trace|Call trace|<TASK>|</TASK>|\+0x[0-9a-f]+/0x|\[<[0-9a-f]+>\]|R[A-D0-9S][A-Z0-9]*: |EFLAGS|Code: |Mem-Info|active_anon:|active_file:|unevictable:|slab_|mapped:|free:[0-9]|bounce:|kernel_misc|sec_pagetables|Node [0-9]+|lowmem_reserve|pagecache|Swap cache|swap cache|Free swap|Total swap|pages (?:RAM|HighMem|reserved|cma|hwpoison|shared|swap|non-shared)|memory: usage|memory\+swap|swap: usage|kmem: usage|Memory cgroup (?:stats|out)|Task in /|^ *\[? *[0-9. ]*\]? *(?:anon|file|cache) [0-9]|\[ *pid *\]|\[ *[0-9]+\] +[0-9]+ +[0-9]+ |Tasks state|oom-kill:|Out of memory|Killed process|cpuset=|mem_cgroup|DMA|Normal: |HighMem|per-cpu|CPU +[0-9]+: hi|Mem-info|warn_alloc|[a-z_]+ [0-9]+$)`)
)

// maxReport is how many lines a report about memory can have: its table of tasks
// has one a process.
const maxReport = 3000

// readMemoryReport reads what the kernel writes when memory is out or an
// allocation failed or took seconds. Its lines are a log's too.
func readMemoryReport(r *reading, list []line) (*Part, int) {
	text := list[0].text
	if !strings.Contains(text, "invoked oom-killer") && !strings.Contains(text, "page allocation ") {
		return nil, 0
	}
	m := memoryEventLine.FindStringSubmatch(text)
	if m == nil {
		return nil, 0
	}
	p := &Part{Format: "OOM report", Logged: true}
	at, _ := r.logTime(text)
	order := "?"
	if o := orderOf.FindStringSubmatch(m[4]); o != nil {
		order = o[1]
	}
	stalled, _ := strconv.Atoi(m[3])
	switch {
	case m[3] != "":
		p.Format = "allocation stall"
		p.say("%s waited %.1f s for 2^%s pages of memory", shorten(m[1]), float64(stalled)/1000, order)
	case m[2] != "":
		p.Format = "allocation failure"
		p.say("%s got no 2^%s pages in a row%s", shorten(m[1]), order, fragmented(order))
	default:
		p.say("the kernel ran out of memory when %s asked for 2^%s pages", shorten(m[1]), order)
	}
	n := p.reportBelow(list)
	p.reportStack(list[:n], shorten(m[1]), at, time.Duration(stalled)*time.Millisecond)
	return p, n
}

// fragmented says what a failed order tells.
func fragmented(order string) string {
	if order == "0" {
		return ": memory was used up"
	}
	return ": memory is in pieces, or used up; nobody need have waited"
}

// reportBelow takes the lines that belong to the report and says what they tell.
func (p *Part) reportBelow(list []line) (n int) {
	short := 0
	for n = 1; n < len(list) && n < maxReport; n++ {
		text := list[n].text
		if list[n].blank() || memoryEventLine.MatchString(text) || hungTask.MatchString(text) || !reportLine.MatchString(text) {
			break
		}
		if m := zoneLine.FindStringSubmatch(text); m != nil && short < 6 {
			if free, low := kb(m[3]), kb(m[5]); free < low {
				short++
				p.say("zone %s%s: %.1f MiB free, under the low watermark of %.1f MiB (minimum %.1f MiB)", m[1], m[2], free/1024, low/1024, kb(m[4])/1024)
			}
		}
		if m := usageLine.FindStringSubmatch(text); m != nil {
			p.say("the cgroup: %.0f MiB of %.0f MiB, its limit met %s times", kb(m[1])/1024, kb(m[2])/1024, m[3])
		}
		if m := victimLine.FindStringSubmatch(text); m != nil {
			if n+1 < len(list) && strings.Contains(list[n+1].text, "Killed process "+m[2]+" ") {
				n++ // up to 4.18 the sizes are on a line of their own
				m = victimLine.FindStringSubmatch(list[n].text)
			}
			p.victim(m)
			return n + 1
		}
	}
	return n
}

// victim says who was killed.
func (p *Part) victim(m []string) {
	pid, name, size := m[2]+m[5], m[3]+m[6], m[4]+m[7]
	words := fmt.Sprintf("killed: %s (pid %s)", shorten(name), pid)
	if size != "" {
		words += fmt.Sprintf(", %.0f MiB of its own memory", kb(size)/1024)
	}
	if strings.HasPrefix(m[1], "Memory cgroup") {
		words += ", for the limit of its cgroup and not for the host"
	}
	p.say("%s", words)
}

// kb is a number of KiB; a hostile one is 0.
func kb(s string) float64 {
	v, err := strconv.ParseUint(s, 10, 53)
	if err != nil {
		return 0
	}
	return float64(v)
}

// reportStack says where the task that asked was. One that stalled waited.
func (p *Part) reportStack(list []line, task string, at time.Time, stalled time.Duration) {
	stack, _ := stackBelow(list)
	wait, function, frames := process.Classify(stack)
	if stalled == 0 {
		return
	}
	if wait == "" {
		wait, function = "reclaim", "__alloc_pages_slowpath"
	}
	e := model.Event{Kind: model.EventBlocked, Text: task + " waited for memory", Attrs: map[string]string{
		"process": task, "thread": task, "wait": wait, "function": function, "stack": frames,
	}}
	if !at.IsZero() {
		e.From, e.To = at.Add(-stalled), at
	}
	p.Events = []model.Event{e}
}
