package process

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// hostTasks looks, only while the host is under pressure, for tasks in state D
// that belong to no watched process: who else is stuck, and where. It reads at
// most maxTaskReads tasks a second, going round where there are more. Where
// beats are shorter than a second, those in between look only at the tasks that
// the last whole look found blocked.
type hostTasks struct {
	table    *table
	alert    func() bool
	pressure pressure
	classifier
	series   [len(waitGroups)]*model.Series
	told     map[string]time.Time // thread and group
	at       time.Time            // of this beat
	round    time.Time            // of the last look at all tasks
	whole    bool                 // it could see them all
	suspects []suspect            // whom it found blocked
	after    int                  // pid after which the next look goes on
	seen     int                  // blocked tasks whose place could be read
	unseen   int                  // blocked tasks whose place is denied
	waiting  [len(waitGroups)]int
	reads    int
	stacks   int
	buf      []byte
}

// Bounds of a look.
const (
	maxTaskReads  = 2000 // stat files a second
	maxTaskStacks = 64   // stacks a beat
	maxTold       = 4096 // remembered events

	roundEvery = 900 * time.Millisecond // a second, less what beats jitter
)

// suspect is a task that was blocked when all were looked at.
type suspect struct {
	pid, tid int
	dir      string
}

func newHostTasks(c Config, t *table) *hostTasks {
	h := &hostTasks{table: t, alert: c.alert(), told: map[string]time.Time{}}
	for i, wait := range waitGroups {
		h.series[i] = model.NewSeries("stallmark_host_blocked_tasks", "wait", wait)
	}
	return h
}

// Name implements [collectors.Source].
func (h *hostTasks) Name() string { return "host-tasks" }

// Provides implements [collectors.Source].
func (h *hostTasks) Provides() []string { return []string{"stallmark_host_blocked_tasks"} }

// Collect implements [collectors.Source].
func (h *hostTasks) Collect(root collectors.Root, out *collectors.Out) error {
	h.pressure.read(root, out.At())
	if !h.pressure.heavy && !h.alert() {
		clear(h.told)
		if h.pressure.blind {
			return collectors.Absent("nothing tells when to look: neither /proc/pressure nor /proc/vmstat and /proc/stat can be read",
				"mount the host's /proc readable and name it with --procfs")
		}
		return nil
	}
	h.at = out.At()
	h.stacks = maxTaskStacks
	h.seen, h.unseen = 0, 0
	clear(h.waiting[:])
	if len(h.told) > maxTold {
		clear(h.told)
	}
	if err := h.lookAround(root, out); err != nil {
		return err
	}
	if !h.blind() {
		for i, n := range h.waiting {
			out.Add(h.series[i], float64(n))
		}
	}
	return h.gap(h.whole)
}

// lookAround looks at all tasks, or at the suspects if all were looked at
// within the second.
func (h *hostTasks) lookAround(root collectors.Root, out *collectors.Out) error {
	elapsed := h.at.Sub(h.round)
	if elapsed < 0 || elapsed > time.Second { // the clock went back, or it is the first look
		elapsed = time.Second
	}
	h.reads = int(maxTaskReads * elapsed.Seconds())
	if elapsed < roundEvery {
		for _, s := range h.suspects {
			if st, ok := h.stat(root, s.dir); ok {
				h.task(root, out, s, st)
			}
		}
		return nil
	}
	pids, err := h.others(root)
	if err != nil {
		return collectors.GapOf("/proc", err, "mount proc, or name its place")
	}
	h.round, h.suspects = h.at, h.suspects[:0]
	h.whole = h.look(root, out, pids)
	return nil
}

// gap says what was not looked at.
func (h *hostTasks) gap(whole bool) error {
	var missing gaps
	missing.got = !h.blind()
	if h.blind() {
		missing.add(model.SourceDenied, "neither stack nor wchan of other tasks can be read", mendStack+"; or with CAP_SYS_PTRACE for wchan")
	}
	if !whole {
		missing.add(model.SourcePartial, fmt.Sprintf("more tasks than can be looked at in a beat (%d a second, %d stacks)", maxTaskReads, maxTaskStacks), "")
	}
	return missing.err()
}

// blind reports whether tasks are blocked and none of their places can be read.
func (h *hostTasks) blind() bool { return h.unseen > 0 && h.seen == 0 }

// others lists the processes that are not watched, beginning where the last
// look ended.
func (h *hostTasks) others(root collectors.Root) ([]int, error) {
	names, err := root.ReadDir("proc")
	if err != nil {
		return nil, err
	}
	mine := map[int]bool{}
	for _, w := range h.table.snapshot() {
		mine[w.Pid] = true
	}
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && !mine[pid] {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	from, _ := slices.BinarySearch(pids, h.after+1)
	return append(pids[from:len(pids):len(pids)], pids[:from]...), nil
}

// look goes through the processes until the budget is spent, and answers
// whether it saw them all.
func (h *hostTasks) look(root collectors.Root, out *collectors.Out, pids []int) bool {
	for _, pid := range pids {
		if h.reads <= 0 || h.stacks <= 0 {
			return false
		}
		h.after = pid
		dir := "proc/" + strconv.Itoa(pid) + "/"
		st, ok := h.stat(root, dir)
		if !ok {
			continue
		}
		if st.threads <= 1 {
			h.suspect(root, out, suspect{pid, pid, dir}, st)
			continue
		}
		tids, err := root.ReadDir(dir + "task")
		if err != nil {
			continue // it ended, or a recording has no more than this
		}
		for _, name := range tids {
			tid, err := strconv.Atoi(name)
			if err != nil || h.reads <= 0 {
				continue
			}
			task := dir + "task/" + name + "/"
			if st, ok := h.stat(root, task); ok {
				h.suspect(root, out, suspect{pid, tid, task}, st)
			}
		}
	}
	return true
}

// taskStat is what is needed of a task's stat.
type taskStat struct {
	state   byte
	threads uint64
	comm    string
}

// stat reads a task's stat; the name only of one that is blocked.
func (h *hostTasks) stat(root collectors.Root, dir string) (taskStat, bool) {
	h.reads--
	var err error
	if h.buf, err = root.Read(dir+"stat", h.buf); err != nil {
		return taskStat{}, false
	}
	st, ok := parseStat(h.buf)
	t := taskStat{state: st.state, threads: st.threads}
	if st.state == 'D' {
		t.comm = cleanName(string(st.comm))
	}
	return t, ok
}

// suspect counts one task if it is blocked, and remembers it.
func (h *hostTasks) suspect(root collectors.Root, out *collectors.Out, s suspect, st taskStat) {
	if st.state == 'D' && h.stacks > 0 {
		h.suspects = append(h.suspects, s)
		h.task(root, out, s, st)
	}
}

// task counts one task if it is blocked.
func (h *hostTasks) task(root collectors.Root, out *collectors.Out, s suspect, st taskStat) {
	if st.state != 'D' || h.stacks <= 0 {
		return
	}
	h.stacks--
	at, ok := h.place(root, s.dir)
	if !ok {
		h.unseen++
		return
	}
	h.seen++
	wait := at.waitOf(st.state)
	for i, g := range waitGroups {
		if g == wait {
			h.waiting[i]++
			h.event(root, out, s, st, at, wait)
		}
	}
}

// place reads where a task waits; not ok if that is not to be seen.
func (h *hostTasks) place(root collectors.Root, dir string) (verdict, bool) {
	var err, denial error
	for _, file := range []string{"stack", "wchan"} {
		if h.buf, err = root.Read(dir+file, h.buf); err != nil {
			if denied(err) {
				denial = err
			}
			continue
		}
		if v := h.classify(h.buf); v.function != "" {
			return v, true
		}
	}
	return verdict{}, denial == nil // it ran on, or it ended
}

// event tells of a task, at most once in a while for each group.
func (h *hostTasks) event(root collectors.Root, out *collectors.Out, s suspect, st taskStat, at verdict, wait string) {
	tid := strconv.Itoa(s.tid)
	if last, ok := h.told[tid+wait]; ok && h.at.Sub(last) < tellAgain {
		return
	}
	h.told[tid+wait] = h.at
	out.Event(model.Event{
		Kind: model.EventBlocked,
		Text: fmt.Sprintf("%s (%s) waits in %s (%s)", st.comm, tid, at.function, wait),
		Attrs: map[string]string{
			"process": h.processOf(root, s, st), "pid": strconv.Itoa(s.pid), "tid": tid, "thread": st.comm,
			"wait": wait, "function": at.function, "stack": at.stack,
		},
	})
}

// processOf is the command of a task's process, the task's own name if that
// cannot be read.
func (h *hostTasks) processOf(root collectors.Root, s suspect, st taskStat) string {
	if s.pid == s.tid {
		return st.comm
	}
	var err error
	if h.buf, err = root.Read("proc/"+strconv.Itoa(s.pid)+"/comm", h.buf); err != nil {
		return st.comm
	}
	name, _ := cutLine(h.buf)
	return cleanName(string(name))
}
