package logs

import (
	"context"
	"time"
)

// idle is how long to leave a file alone that has not changed for a while.
func (d *folder) idle(since time.Duration) time.Duration {
	return min(max(since/32, pollFast), d.slow())
}

// slow is how long a file is left alone at most: in a folder with hundreds of
// logs longer than elsewhere.
func (d *folder) slow() time.Duration {
	many := time.Duration(1 + len(d.order)/manyLogs)
	return min(many*pollSlow, pollRare)
}

// pollStream reads what is new in a stream's files, older ones first, and
// returns after which time to come again.
func (d *folder) pollStream(ctx context.Context, s *stream, now time.Time) time.Duration {
	wait := d.slow()
	for i := 0; i < len(s.parts); i++ {
		p := s.parts[i]
		if d.calm && now.Before(p.due) {
			wait = min(wait, p.due.Sub(now))
			continue
		}
		changed, err := p.look(now)
		if err != nil {
			s.problem, d.dirty = err, true
			continue
		}
		if changed {
			d.dirty = true
			d.checkName(p)
			if d.readPart(ctx, s, p, now) {
				wait = 0
			}
		}
		if p != s.current() && d.finished(s, p, now) {
			p.finish(s.feeder, d.buffer(bufferSize), d.cfg.Tap)
			s.close(p)
			i, d.dirty = i-1, true
			continue
		}
		p.due = now.Add(d.idle(now.Sub(p.changed)))
		wait = min(wait, p.due.Sub(now))
	}
	if cur := s.current(); cur != nil && cur.last.links == 0 {
		d.urgent = true // a new one comes soon
		if now.Sub(cur.changed) > lingerFor {
			cur.finish(s.feeder, d.buffer(bufferSize), d.cfg.Tap)
			s.close(cur) // or its space would not be given back
			d.urgent, d.dirty = false, true
		}
	}
	return wait
}

// checkName has the folder scanned if a file that has changed is not under its
// name any more.
func (d *folder) checkName(p *part) {
	if p.checked == p.last.ctime {
		return
	}
	p.checked = p.last.ctime
	i, err := infoAt(d.dir.fd, p.name)
	if err == nil && i.link {
		var m member
		m, err = d.memberAt(p.name)
		i = m.info
	}
	if err != nil || i.inode != p.last.inode {
		d.urgent = true
	}
}

// readPart reads what is new in one file. It reports whether there is more.
func (d *folder) readPart(ctx context.Context, s *stream, p *part, now time.Time) bool {
	behind := p.last.size - p.trace.offset
	if behind > maxBacklog {
		d.leap(s, p, behind)
	}
	result, n, err := p.read(s.feeder, d.buffer(behind), readBudget, d.cfg.Tap)
	d.spend(s, n)
	switch result {
	case truncated:
		s.recover(d, p, now)
		p.last.size = -1
		return true
	case failed:
		s.problem = err
	case more:
		p.last.size = -1 // so that it counts as changed
		return ctx.Err() == nil
	}
	return false
}

// leap passes over the older half of what is more than can be caught up with.
func (d *folder) leap(s *stream, p *part, behind int64) {
	by := behind - maxBacklog/2
	next, err := newPart(p.file, p.name, p.trace.offset+by, p.changed)
	if err != nil {
		return
	}
	p.trace, p.skipping = next.trace, next.skipping
	s.leapt += by
}

// finished reports whether a file that was rotated away has nothing more to
// come: its writer has had time to go over to the next one, and has.
func (d *folder) finished(s *stream, p *part, now time.Time) bool {
	next := s.current()
	return now.Sub(p.changed) > lingerFor && next.last.size > 0
}
