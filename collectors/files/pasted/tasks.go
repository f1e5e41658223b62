package pasted

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// task is a row of a list of tasks, of top or ps.
type task struct {
	line    int
	pid     string
	name    string
	state   byte    // D is uninterruptible sleep; 0 if the list does not tell
	cpu     float64 // percent of one CPU
	virtual string  // its address space, "0" of a thread of the kernel; empty if the list does not tell
}

// taskTable is where the columns of a list of tasks are, by its heading.
type taskTable struct {
	heads                             []string
	pid, state, cpu, virtual, command int
}

// newTaskTable reads a heading; ok is false for any other line.
func newTaskTable(heads []string) (t taskTable, ok bool) {
	column := func(names ...string) int {
		return slices.IndexFunc(heads, func(h string) bool { return slices.Contains(names, h) })
	}
	t = taskTable{
		heads: heads, pid: column("PID"), state: column("S", "STAT", "D"), cpu: column("%CPU", "C"),
		virtual: column("VIRT", "VSZ", "SZ"), command: column("COMMAND", "CMD", "COMM", "Command"),
	}
	if t.pid < 0 || t.command < 0 || t.command != len(heads)-1 {
		return taskTable{}, false
	}
	return t, true
}

// row reads a row of the list. What follows the name of a command is not kept.
func (t taskTable) row(l line) (task, bool) {
	words := l.fields()
	if len(t.heads) == 0 || len(words) < len(t.heads) || !numeric(words[t.pid]) {
		return task{}, false
	}
	k := task{line: l.no, pid: words[t.pid], name: commandName(words[t.command:])}
	if t.state >= 0 {
		k.state = words[t.state][0]
	}
	if t.cpu >= 0 {
		k.cpu, _ = number(words[t.cpu])
	}
	if t.virtual >= 0 {
		k.virtual = words[t.virtual]
	}
	return k, true
}

// commandName is the program's own name: without its path, its arguments and the
// brackets of a thread of the kernel.
func commandName(words []string) string {
	name := strings.Trim(words[0], "[]")
	if i := strings.LastIndexByte(name, '/'); i >= 0 && strings.HasPrefix(name, "/") {
		name = name[i+1:]
	}
	return shorten(strings.TrimSuffix(name, ":"))
}

// kernelThread are threads of the kernel that wait as part of their work: nobody
// is held up by that alone.
var kernelThread = regexp.MustCompile(`^\[?(?:kswapd|kcompactd|kworker|jbd2/|flush-|khugepaged|xfsaild|kdmflush|md[0-9]+_|loop[0-9])`)

// Bounds of what is worth a sentence.
const (
	busyReclaimer = 20 // percent of a CPU that kswapd uses: at rest it uses none
	namedTasks    = 4  // programs that are named in a sentence
)

// signTasks says what stands out in a list of tasks.
func (p *Part) signTasks(tasks []task) {
	blocked := map[string]int{}
	total, first := 0, 0
	for _, k := range tasks {
		switch {
		case strings.HasPrefix(k.name, "kswapd"):
			p.signReclaimer(k)
		case k.state == 'D' && !kernelThread.MatchString(k.name):
			blocked[k.name]++
			total++
			first = cmp.Or(first, k.line)
		}
	}
	if total == 0 {
		return
	}
	if total == 1 {
		p.sign(first, "%s is in uninterruptible sleep (D): it waits for a disk, for swap or for a lock whose holder does", countedNames(blocked)[2:])
		return
	}
	p.sign(first, "%d in uninterruptible sleep (D): %s; such a task waits for a disk, for swap or for a lock whose holder does", total, countedNames(blocked))
}

// signReclaimer says what the kernel's reclaiming thread tells.
func (p *Part) signReclaimer(k task) {
	switch {
	case k.virtual != "" && k.virtual != "0":
		p.sign(k.line, "%s (pid %s) has memory of its own, which no thread of the kernel has: look at what program it is", k.name, k.pid)
	case k.cpu >= busyReclaimer:
		p.sign(k.line, "%s uses %.0f %% of a CPU: memory is short and the kernel frees it in the background. Whether threads have to do so themselves, allocstall_* and pgscan_direct of /proc/vmstat tell", k.name, k.cpu)
	case k.state == 'D':
		p.sign(k.line, "%s is in uninterruptible sleep (D): memory is short and what it writes out waits for a disk", k.name)
	}
}

// countedNames are the most frequent names with how often each was seen.
func countedNames(counts map[string]int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
	var list []string
	for _, name := range names[:min(len(names), namedTasks)] {
		list = append(list, fmt.Sprintf("%d %s", counts[name], name))
	}
	if more := len(names) - namedTasks; more > 0 {
		list = append(list, fmt.Sprintf("%d other programs", more))
	}
	return strings.Join(list, ", ")
}
