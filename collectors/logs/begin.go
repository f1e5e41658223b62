package logs

import (
	"slices"
	"time"
)

// Position is how far one file of a log was read, for going on after a restart.
type Position struct {
	Log  string `json:"log"`  // key of the stream: process, folder and name
	Name string `json:"name"` // of the file in the folder when it was last seen
	Ino  uint64 `json:"ino"`
	mark
	Skipping bool   `json:"skipping,omitempty"` // inside an overlong line
	Mtime    int64  `json:"mtime"`              // nanoseconds since 1970, of the file
	Zone     string `json:"zone,omitempty"`     // of the stamps, if lines have shown it
}

// begin decides where a stream that was never looked at is read from.
//
// If it is known from the last run, each file goes on where it was, found by
// inode and content, or by content alone if it was copied or compressed since;
// files that are newer are read from their start. Otherwise the file in use is
// read from its end; from its start if it was made after this program began to
// follow. Everything older is history and is not read.
func (s *stream) begin(d *folder, ms []member, now time.Time) {
	if len(ms) == 0 {
		return
	}
	byAge(ms)
	s.begun = true
	if saved := d.positions(s.base); len(saved) > 0 {
		s.resume(d, ms, saved, now)
		return
	}
	live, ok := s.live(ms)
	s.keepHeads(d, ms, live.inode)
	if !ok {
		return
	}
	s.since = live.mtime
	offset := live.size
	if d.scans > 1 || d.late || live.btime != 0 && live.btime >= d.started.UnixNano() {
		offset = 0
	}
	s.open(d, live, offset, now)
}

// resume goes on where the last run was.
func (s *stream) resume(d *folder, ms []member, saved []Position, now time.Time) {
	newest := int64(0)
	for _, pos := range saved {
		newest = max(newest, pos.Mtime)
		i := slices.IndexFunc(ms, func(m member) bool { return !m.packed && m.ino == pos.Ino && d.holds(m, pos.mark) })
		if i < 0 && pos.Offset > 0 {
			i = slices.IndexFunc(ms, func(m member) bool { return d.holds(m, pos.mark) })
		}
		if i < 0 {
			continue
		}
		m := ms[i]
		ms = slices.Delete(slices.Clone(ms), i, i+1)
		if m.packed {
			d.readPacked(s, m, pos.mark)
			s.forget(m.info)
			continue
		}
		if p := s.open(d, m, pos.Offset, now); p != nil {
			p.skipping, p.home = pos.Skipping, pos.Name
		}
	}
	s.since = newest
	for _, m := range ms {
		if s.inUse(m) || !m.packed && m.mtime >= newest {
			s.open(d, m, 0, now)
		} else {
			s.pastFile(d, m)
		}
	}
}

// keepHeads notes that all files but one are of the past, and how the newest of
// them begin.
func (s *stream) keepHeads(d *folder, ms []member, but inode) {
	for i, m := range ms {
		if m.inode == but {
			continue
		}
		s.forget(m.info)
		if m.packed || len(ms)-i > maxHeads/2 {
			continue
		}
		if head, err := d.head(m); err == nil {
			s.keepHead(head)
		}
	}
}

// recover is called when the file at hand does not hold what was read: it was
// truncated. What a copy still holds of it is read, and what was written and
// copied since it was begun, then the file from its start.
func (s *stream) recover(d *folder, p *part, now time.Time) {
	m := p.trace.mark()
	fresh := s.fresh(d.stable(s.base))
	copied := -1
	if m.Offset > 0 {
		copied = slices.IndexFunc(fresh, func(c member) bool { return d.holds(c, m) })
	}
	for i, c := range fresh {
		switch {
		case i == copied:
			d.readCopy(s, c, m, p.skipping)
			s.forget(c.info)
		case c.mtime >= p.begun && !d.copyOf(c, p):
			s.pastFile(d, c)
		default:
			s.forget(c.info)
		}
	}
	s.keepHead(p.trace.head)
	p.restart()
	p.changed = now
}
