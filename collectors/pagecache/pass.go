package pagecache

import (
	"time"
)

// pass is one round over the brokers' files: first they are listed, then some
// are looked at. It is worked off in slices, each in a goroutine of its own that
// has the pass to itself until it has answered.
type pass struct {
	lists   []*listing // to be worked off
	done    []*listing // since the last answer
	jobs    []job
	looks   []look // since the last answer
	planned bool
	spent   time.Duration // in the last slice

	total  time.Duration // spent in all slices
	looked time.Duration // of that, since it was planned
}

// look is what a look at one file gave.
type look struct {
	job     job
	reading reading
	err     error
}

// work goes on with the pass until there is nothing more to do or the time is
// over. It never stops within a question to the kernel, so it may take longer.
func (p *pass) work(files opener, l *looker, allowed time.Duration) {
	start := l.now()
	p.spent = 0
	for p.step(files, l) {
		if p.spent = l.now().Sub(start); p.spent >= allowed {
			return
		}
	}
	p.spent = l.now().Sub(start)
}

// step does one thing; it returns false when there is nothing to do.
func (p *pass) step(files opener, l *looker) bool {
	switch {
	case len(p.lists) > 0:
		if !p.lists[0].step(files) {
			p.done = append(p.done, p.lists[0])
			p.lists = p.lists[1:]
		}
		return true
	case len(p.jobs) > 0:
		p.looks = append(p.looks, lookAt(p.jobs[0], files, l))
		p.jobs = p.jobs[1:]
		return true
	}
	return false
}

func lookAt(j job, files opener, l *looker) look {
	h, err := files.open(j.id, j.path)
	if err != nil {
		return look{job: j, err: err}
	}
	defer h.close()
	r, err := l.look(h)
	return look{j, r, err}
}
