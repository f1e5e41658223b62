package pasted

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"stallmark/collectors/process"
	"stallmark/storage/model"
)

var (
	rawFrame   = regexp.MustCompile(`^\s*\[<[0-9a-f]+>\]\s+(\?\s+)?([A-Za-z_][\w.]*\+0x[0-9a-f]+/0x[0-9a-f]+|0x[0-9a-f]+)`)
	symbol     = regexp.MustCompile(`^\s*([a-z_][\w.]{3,63})\s*$`)
	threadFile = regexp.MustCompile(`^proc/(?:[0-9]+|self)/(?:task/[0-9]+/)?(?:stack|wchan)$`)
	threadOf   = regexp.MustCompile(`^proc/([0-9]+)/`)
)

// readStack reads /proc/PID/stack.
func readStack(r *reading, list []line) (*Part, int) {
	n := run(list, rawFrame)
	if n < 1 {
		return nil, 0
	}
	var b strings.Builder
	for _, l := range list[:n] {
		b.WriteString(l.text)
		b.WriteByte('\n')
	}
	p := &Part{Format: "stack"}
	r.waitOf(p, r.path, []byte(b.String()))
	return p, n
}

// readWchan reads /proc/PID/wchan: the name of one function, "0" for none. Without
// the file's name a word counts if it is a place where threads are known to wait.
func readWchan(r *reading, list []line) (*Part, int) {
	text := list[0].text
	named := strings.HasSuffix(r.path, "/wchan")
	// The file has no end of line: the shell's prompt may stand behind the name.
	if named {
		text, _, _ = strings.Cut(strings.TrimSpace(text), "[")
		text, _, _ = strings.Cut(text, " ")
	}
	if named && strings.TrimSpace(text) == "0" {
		p := &Part{Format: "wchan"}
		p.say("a thread that was not in the kernel")
		return p, 1
	}
	m := symbol.FindStringSubmatch(text)
	if m == nil {
		return nil, 0
	}
	if wait, _, _ := process.Classify([]byte(m[1])); !named && (wait == "" || wait == "other") {
		return nil, 0
	}
	p := &Part{Format: "wchan"}
	r.waitOf(p, r.path, []byte(m[1]))
	return p, 1
}

// waitOf adds where a thread waits, by its stack or the function's name.
func (r *reading) waitOf(p *Part, path string, data []byte) {
	stack := data
	if frame.Match(data) {
		stack = nil
		for _, f := range frame.FindAllStringSubmatch(string(data), -1) {
			if f[1] == "" && !pastEnd(f[0]) {
				stack = append(append(stack, f[0]...), '\n')
			}
		}
	}
	who, pid := "a thread", ""
	if m := threadOf.FindStringSubmatch(path); m != nil {
		pid = m[1]
		who = "a thread of process " + pid
	}
	wait, function, frames := process.Classify(stack)
	if function == "" {
		p.say("%s that was not in the kernel", who)
		return
	}
	p.say("%s: %s", who, explain(wait, function))
	if wait == "" {
		return
	}
	attrs := map[string]string{"wait": wait, "function": function, "stack": frames}
	if pid != "" {
		attrs["pid"] = pid
	}
	p.signWait(0, who, wait, function)
	p.Events = append(p.Events, model.Event{From: r.moment(), To: r.moment(), Kind: model.EventBlocked, Text: who + " in " + function, Attrs: attrs})
}

// signWait says that a thread was seen in a wait that stalls are known for.
func (p *Part) signWait(line int, who, wait, function string) {
	if wait != "" && wait != "other" {
		p.sign(line, "%s was seen %s", who, explain(wait, function))
	}
}

// maxTasks bounds a table of ps.
const maxTasks = 5000

// readPs reads a table of ps that has a state or a place where threads wait:
// "ps -eo pid,stat,wchan:32,comm" and "ps aux".
func readPs(r *reading, list []line) (*Part, int) {
	heads := list[0].fields()
	if len(heads) < 3 || !slices.Contains(heads, "PID") {
		return nil, 0
	}
	stateAt := max(slices.Index(heads, "STAT"), slices.Index(heads, "S"))
	waitAt := slices.Index(heads, "WCHAN")
	if stateAt < 0 && waitAt < 0 || slices.Contains(heads, "%CPU") && slices.Contains(heads, "TIME+") {
		return nil, 0
	}
	t := psTable{heads: heads, state: stateAt, wait: waitAt, waits: map[string]int{}, function: map[string]string{}, who: map[string][]task{}}
	table, named := newTaskTable(heads)
	var tasks []task
	n := 1
	for n < len(list) && n < maxTasks {
		k, ok := table.row(list[n])
		if named && ok {
			tasks = append(tasks, k)
		}
		if !t.row(list[n].fields(), k) {
			break
		}
		n++
	}
	p := &Part{Format: "ps", weight: t.blocked}
	p.signTasks(tasks)
	p.say("%d tasks, %d of them in uninterruptible sleep (D)", n-1, t.blocked)
	for _, wait := range slices.Sorted(maps.Keys(t.waits)) {
		function := t.function[wait]
		p.say("%d %s", t.waits[wait], explain(wait, function))
		p.signWait(list[0].no, countOf(t.waits[wait]), wait, function)
		for i := range min(t.waits[wait], 100) {
			attrs := map[string]string{"wait": wait, "function": function, "stack": function}
			if who := t.who[wait]; i < len(who) {
				attrs["process"], attrs["thread"], attrs["pid"] = who[i].name, who[i].name, who[i].pid
			}
			p.Events = append(p.Events, model.Event{From: r.moment(), To: r.moment(), Kind: model.EventBlocked, Text: "a thread in " + function, Attrs: attrs})
		}
	}
	if t.blocked > 0 && waitAt < 0 {
		p.note(list[0].no, "what they wait for is not in it: ps -eLo pid,tid,stat,wchan:32,comm | grep ' D'")
	}
	return p, n
}

// cutWaits are names of functions as "ps -l" cuts them, at six letters, where one
// group alone begins so.
var cutWaits = map[string]string{
	"balanc": "balance_dirty_pages", "conges": "congestion_wait", "jbd2_l": "jbd2_log_wait_commit", "do_swa": "do_swap_page", "get_re": "get_request",
	"blk_mq": "blk_mq_get_tag", "shrink": "shrink_inactive_list", "rq_qos": "rq_qos_wait", "mem_cg": "mem_cgroup_handle_over_high", "wait_o": "wait_on_page_bit",
}

func countOf(n int) string {
	if n == 1 {
		return "a thread"
	}
	return fmt.Sprintf("each of %d threads", n)
}

// psTable is what the rows of ps have told so far.
type psTable struct {
	heads       []string
	state, wait int // columns, -1 if there is none
	blocked     int
	waits       map[string]int // by group
	function    map[string]string
	who         map[string][]task // those of a group whose names are in the list
}

// row takes a row; false if it is none.
func (t *psTable) row(words []string, k task) bool {
	pid := slices.Index(t.heads, "PID")
	if len(words) < len(t.heads)-1 || len(words) <= max(t.state, t.wait) || !numeric(words[pid]) {
		return false
	}
	if t.state >= 0 && strings.HasPrefix(words[t.state], "D") {
		t.blocked++
	}
	if t.wait < 0 || len(words) >= len(t.heads) && kernelThread.MatchString(words[len(t.heads)-1]) {
		return true
	}
	name := words[t.wait]
	if whole := cutWaits[name]; whole != "" {
		name = whole
	}
	if wait, function, _ := process.Classify([]byte(name)); wait != "" && wait != "other" {
		t.waits[wait]++
		t.function[wait] = function
		if k.pid != "" {
			t.who[wait] = append(t.who[wait], k)
		}
	}
	return true
}

// explain says in words where a thread waits.
func explain(wait, function string) string {
	words := map[string]string{
		"dirty_throttle": "paused at the dirty-page limit", "reclaim": "freeing memory itself (direct reclaim)",
		"memcg_reclaim": "freeing memory inside its cgroup's limit", "page_wait": "waiting for a page that is read or written back",
		"page_mkwrite": "waiting for writeback before it may write a mapped page", "file_fault": "reading a mapped file's page from disk",
		"journal": "waiting for the file system's journal", "fsync": "in fsync", "block_queue": "waiting for a place in the disk's queue",
		"swap_in": "waiting for memory from swap", "compaction": "compacting memory", "mmap_lock": "waiting for the lock of its address space",
		"inode_lock": "waiting for a file's lock", "other": "waiting",
	}[wait]
	if words == "" {
		words = "in an ordinary sleep"
	}
	return fmt.Sprintf("%s (%s)", words, function)
}
