package process

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// discovery finds the processes to watch and publishes them for the other
// sources. It lists /proc every few seconds and takes apart the command lines of
// processes that it has not seen; those that it watches it looks at in every
// beat, so that their end, or another process under their pid, shows at once.
type discovery struct {
	table    *table
	recorded bool // watch whatever is recorded
	inspects inspections
	known    map[int]*candidate
	watched  []*watched
	infos    map[*watched]*model.Series
	missing  map[*watched]int // beats without its files
	nextScan time.Time
	nextLook time.Time // at the configurations of the watched
	cmdlines bool      // the recording has command lines
	hidden   bool      // processes of others are hidden
	over     bool      // more processes to watch than maxWatched
	recheck  int       // pid after which checking goes on
	buf      []byte
}

// Cadence and bounds of the discovery.
const (
	scanEvery   = 5 * time.Second
	lookAgain   = time.Minute // a configuration may be changed while the broker runs
	maxWatched  = 64
	maxRechecks = 256 // known processes whose pid is checked for another owner, a scan
	freshScans  = 3   // scans in which a process may still become a broker by exec
	goneBeats   = 3   // beats for which a recorded process may lack its files
)

// candidate is a process that has been seen.
type candidate struct {
	start uint64
	comm  string
	scans int
}

func newDiscovery(c Config, t *table) *discovery {
	return &discovery{
		table:    t,
		recorded: c.WatchAllRecorded,
		inspects: inspections{in: inspector{files: c.Files, watch: c.Watch, recorded: c.Recorded}, wait: !c.WatchAllRecorded},
		known:    map[int]*candidate{},
		infos:    map[*watched]*model.Series{},
		missing:  map[*watched]int{},
	}
}

// Name implements [collectors.Source].
func (d *discovery) Name() string { return "brokers" }

// Provides implements [collectors.Source].
func (d *discovery) Provides() []string { return []string{"stallmark_process_info"} }

// Collect implements [collectors.Source].
func (d *discovery) Collect(root collectors.Root, out *collectors.Out) error {
	var missing gaps
	changed := d.dropGone(root, out)
	if !d.recorded && !out.At().Before(d.nextLook) {
		d.nextLook = out.At().Add(lookAgain)
		for _, w := range d.watched {
			d.inspects.begin(root, w.ID, w.comm)
		}
	}
	if d.recorded || !out.At().Before(d.nextScan) {
		d.nextScan = out.At().Add(scanEvery)
		if err := d.scan(root); err != nil {
			return collectors.GapOf("/proc", err, "mount proc, or name its place")
		}
	}
	changed = d.take(out) || changed
	if changed || d.table.now.Load() == nil {
		d.table.publish(slices.Clone(d.watched))
	}
	for _, w := range d.watched {
		d.put(out, w)
		missing.got = true
	}
	d.report(&missing)
	return missing.err()
}

// dropGone takes off the list what has ended.
func (d *discovery) dropGone(root collectors.Root, out *collectors.Out) bool {
	before := len(d.watched)
	d.watched = slices.DeleteFunc(d.watched, func(w *watched) bool {
		if d.alive(root, w) {
			return false
		}
		out.Event(model.Event{
			Kind:  model.EventProcess,
			Text:  fmt.Sprintf("%s (pid %s) ended", w.name, w.pid),
			Attrs: map[string]string{"process": w.name, "pid": w.pid, "role": w.role, "change": "stop"},
		})
		out.Forget(w.factPrefix())
		delete(d.infos, w)
		delete(d.missing, w)
		delete(d.known, w.Pid)
		return true
	})
	return len(d.watched) != before
}

// alive reports whether the process is still the same. In a recording a beat
// may lack its files.
func (d *discovery) alive(root collectors.Root, w *watched) bool {
	var err error
	if d.buf, err = root.Read(w.dir+"stat", d.buf); err != nil {
		d.missing[w]++
		return !gone(err) || d.recorded && d.missing[w] < goneBeats
	}
	d.missing[w] = 0
	st, ok := parseStat(d.buf)
	return !ok || st.start == w.Start && !st.ended()
}

// scan lists the processes and has new ones inspected.
func (d *discovery) scan(root collectors.Root) error {
	names, err := root.ReadDir("proc")
	if err != nil {
		return err
	}
	pids := make([]int, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	d.hidden = !d.recorded && (len(pids) == 0 || pids[0] != 1)
	d.forgetEnded(pids)
	for _, pid := range pids {
		if c := d.known[pid]; c == nil || c.scans < freshScans {
			d.consider(root, pid)
		}
	}
	d.checkAgain(root, pids)
	return nil
}

// forgetEnded drops what is no longer listed.
func (d *discovery) forgetEnded(pids []int) {
	for pid := range d.known {
		if _, ok := slices.BinarySearch(pids, pid); !ok {
			delete(d.known, pid)
		}
	}
}

// checkAgain looks, a part of them at each scan, whether known pids have become
// other processes or run another program.
func (d *discovery) checkAgain(root collectors.Root, pids []int) {
	from, _ := slices.BinarySearch(pids, d.recheck+1)
	for i := range min(maxRechecks, len(pids)) {
		pid := pids[(from+i)%len(pids)]
		d.recheck = pid
		if c := d.known[pid]; c != nil && c.scans >= freshScans {
			d.consider(root, pid)
		}
	}
}

// consider reads a process's stat and has it inspected if it is new, fresh, or
// runs another program than before.
func (d *discovery) consider(root collectors.Root, pid int) {
	var err error
	if d.buf, err = root.Read("proc/"+strconv.Itoa(pid)+"/stat", d.buf); err != nil {
		return
	}
	st, ok := parseStat(d.buf)
	if !ok {
		return
	}
	c := d.known[pid]
	if c == nil || c.start != st.start || c.comm != string(st.comm) {
		c = &candidate{start: st.start, comm: string(st.comm)}
		d.known[pid] = c
	}
	if c.scans++; c.scans > freshScans || st.kernelThread() || d.isWatched(ID{pid, st.start}) {
		return
	}
	d.inspects.begin(root, ID{pid, st.start}, c.comm)
}

func (d *discovery) isWatched(id ID) bool {
	return slices.ContainsFunc(d.watched, func(w *watched) bool { return w.ID == id })
}

// take watches what the inspections found.
func (d *discovery) take(out *collectors.Out) bool {
	found := d.inspects.finished()
	slices.SortFunc(found, func(a, b inspected) int {
		return cmp.Or(cmp.Compare(a.id.Start, b.id.Start), cmp.Compare(a.id.Pid, b.id.Pid))
	})
	changed := false
	for _, f := range found {
		d.cmdlines = d.cmdlines || f.cmdline
	}
	for _, f := range found {
		w := f.proc
		if w == nil && d.recorded && !d.cmdlines && f.threads {
			w = recordedProcess(f.id, f.comm)
		}
		if w == nil || d.refresh(w) {
			continue
		}
		if d.over = len(d.watched) >= maxWatched; d.over {
			break
		}
		d.add(out, w)
		changed = true
	}
	return changed
}

// refresh takes the facts of a process that is watched already. Only the
// discovery reads them, so they may change.
func (d *discovery) refresh(w *watched) bool {
	for _, old := range d.watched {
		if old.ID == w.ID {
			old.facts, old.config = w.facts, w.config
			return true
		}
	}
	return false
}

// recordedProcess is one of which a recording has no command line.
func recordedProcess(id ID, comm string) *watched {
	w := newWatched(id)
	w.comm, w.role = cleanName(comm), roleOther
	w.facts = []fact{{w.factPrefix() + "comm", w.comm}}
	return w
}

// add begins to watch a process.
func (d *discovery) add(out *collectors.Out, w *watched) {
	w.name = d.freeName(w)
	d.watched = append(d.watched, w)
	out.Event(model.Event{
		Kind:  model.EventProcess,
		Text:  fmt.Sprintf("%s (pid %s) is watched", w.name, w.pid),
		Attrs: map[string]string{"process": w.name, "pid": w.pid, "role": w.role, "change": "start"},
	})
}

// freeName is the role, or the command name where the role says little, with
// the first free number if others have it.
func (d *discovery) freeName(w *watched) string {
	base := w.role
	if w.role == roleOther || w.role == roleJVM {
		base = firstOf(w.comm, w.role)
	}
	name := base
	for n := 2; slices.ContainsFunc(d.watched, func(o *watched) bool { return o.name == name }); n++ {
		name = base + "-" + strconv.Itoa(n)
	}
	return name
}
