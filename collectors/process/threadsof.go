package process

import (
	"stallmark/collectors"
	"stallmark/storage/model"
)

// begin starts a beat.
func (p *threadsOf) begin() {
	clear(p.waiting[:])
	clear(p.states[:])
}

// thread returns what is remembered of a thread, by its folder's name.
func (p *threadsOf) thread(w *watched, tid string) *thread {
	th := p.byName[tid]
	if th == nil {
		dir := w.dir + "task/" + tid + "/"
		th = &thread{tid: tid, dir: dir, statName: dir + "stat", schedstatName: dir + "schedstat"}
		p.byName[tid] = th
	}
	return th
}

// delayed adds what a thread waited for a CPU since its last reading. The sum
// goes on rising when threads end: a counter must not fall. A thread that began
// after the process was first read counts from its beginning.
func (p *threadsOf) delayed(th *thread, s schedstat) {
	p.sched = p.sched || s.slices > 0
	if s.delay < th.sched.delay || s.slices < th.sched.slices {
		th.sched = schedstat{} // another thread under the same number
	}
	p.delay += s.delay - th.sched.delay
	th.sched = s
}

// prune drops threads that have not been listed for more than keep beats, and
// counts the states of the others.
func (p *threadsOf) prune(beat, keep int64) {
	for name, th := range p.byName {
		if beat-th.seen > keep {
			delete(p.byName, name)
			continue
		}
		for i := range threadStates {
			if th.state == threadStates[i] {
				p.states[i]++
				p.ever[i] = true
			}
		}
	}
}

// count adds a thread to a group.
func (p *threadsOf) count(wait string) {
	for i, g := range waitGroups {
		if g == wait {
			p.waiting[i]++
		}
	}
}

// put gives the series of this beat. Groups in which nobody waits are 0, but
// only if a wait could have been seen.
func (p *threadsOf) put(out *collectors.Out) {
	if len(p.byName) == 0 {
		return
	}
	for i, n := range p.states {
		if p.ever[i] {
			out.Add(p.stateSeries[i], float64(n))
		}
	}
	if p.sched {
		out.Add(p.delaySeries, float64(p.delay)/1e9)
	}
	if p.sight.any() {
		for i, n := range p.waiting {
			out.Add(p.blockedSeries[i], float64(n))
		}
	}
}

// reportSight says what could not be seen of the threads.
func (p *threadsOf) reportSight(missing *gaps) {
	if !p.sched {
		missing.add(model.SourceAbsent, "schedstat of threads does not count (CONFIG_SCHED_INFO)", "")
	}
	switch {
	case !p.sight.any():
		missing.add(model.SourceDenied, "neither stack nor wchan of threads can be read", mendStack+"; or with CAP_SYS_PTRACE for wchan")
	case p.sight.stack == sightDenied:
		missing.add(model.SourcePartial, "kernel stacks cannot be read: waits are told by wchan alone", mendStack)
	}
}
