package logs

import (
	"cmp"
	"slices"
	"time"
)

// stream is one log through all its rotations. It belongs to its folder's
// goroutine.
type stream struct {
	base   string
	claim  claim
	file   *File
	feeder *feeder
	parts  []*part  // oldest first; the last one is written to
	known  []info   // files of the past that are not to be read
	heads  [][]byte // how what was read and has been rotated away begins
	since  int64    // mtime of the file that was in use at first

	begun   bool
	gone    time.Time // since when there is no file of it, zero while there is one
	bytes   int64     // handed on
	leapt   int64     // bytes passed over since there were too many
	problem error     // why its newest file cannot be read, nil if it can
}

// member is a file in the folder that belongs to a stream.
type member struct {
	info
	name   string
	packed bool
}

// Bounds of what is done for one stream.
const (
	lingerFor  = 10 * time.Second // for which a file that was rotated away is read on
	maxParts   = 64
	maxKnown   = 256
	maxBacklog = 1 << 30 // bytes; of more than this the older half is passed over
)

func (s *stream) current() *part {
	if len(s.parts) == 0 {
		return nil
	}
	return s.parts[len(s.parts)-1]
}

// reads reports whether a file is open as a part.
func (s *stream) reads(i info) bool {
	return slices.ContainsFunc(s.parts, func(p *part) bool { return p.last.inode == i.inode })
}

// forget notes that a file is not to be read.
func (s *stream) forget(i info) {
	s.known = slices.DeleteFunc(s.known, func(k info) bool { return k.inode == i.inode })
	if len(s.known) >= maxKnown {
		s.known = s.known[1:]
	}
	s.known = append(s.known, i)
}

// fresh lists the files that are neither open nor known, oldest first.
func (s *stream) fresh(ms []member) []member {
	var list []member
	for _, m := range ms {
		if !s.reads(m.info) && !slices.ContainsFunc(s.known, m.sameFile) {
			list = append(list, m)
		}
	}
	byAge(list)
	return list
}

// byAge puts files in the order in which they were written to last; those of one
// tick of the kernel's clock by their inodes, which mostly count up.
func byAge(list []member) {
	slices.SortStableFunc(list, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.mtime, b.mtime), cmp.Compare(a.btime, b.btime), cmp.Compare(a.ino, b.ino), cmp.Compare(a.name, b.name))
	})
}

// live picks the file that is being written to: the one with the stream's own
// name, a JVM's current one, or the newest.
func (s *stream) live(ms []member) (member, bool) {
	var best member
	rank := -1
	for _, m := range ms {
		r := 0
		switch {
		case m.packed:
			continue
		case m.name == s.base:
			r = 2
		case isCurrent(m.name):
			r = 1
		}
		if r > rank || r == rank && m.mtime > best.mtime {
			best, rank = m, r
		}
	}
	return best, rank >= 0
}

func isCurrent(name string) bool {
	return len(name) > len(".current") && name[len(name)-len(".current"):] == ".current"
}

// scan takes a new listing of the folder.
func (s *stream) scan(d *folder, ms []member, now time.Time) {
	if !s.begun {
		s.begin(d, ms, now)
		return
	}
	cur := s.current()
	fresh := s.fresh(ms)
	if cur == nil {
		s.openAll(d, fresh, now)
		return
	}
	at := slices.IndexFunc(ms, func(m member) bool { return m.inode == cur.last.inode })
	if at >= 0 && (ms[at].name == s.base || ms[at].name == cur.home && !s.displaced(ms, cur)) {
		s.missed(d, cur, fresh)
		return // it is where it was: what is new is a copy, or none of ours
	}
	if at >= 0 {
		cur.name = ms[at].name
	}
	s.keepHead(cur.head())
	for _, m := range fresh {
		if s.inUse(m) || !m.packed && s.unread(d, m) == yes {
			s.open(d, m, 0, now)
		} else {
			s.pastFile(d, m)
		}
	}
}

// inUse reports whether a file's name is one under which logs are written to.
func (s *stream) inUse(m member) bool { return m.name == s.base || isCurrent(m.name) }

// displaced reports whether the stream's own name has come to be another file's
// while the newest one was read under another name.
func (s *stream) displaced(ms []member, cur *part) bool {
	return slices.ContainsFunc(ms, func(m member) bool {
		return m.name == s.base && m.inode != cur.last.inode && !slices.ContainsFunc(s.known, m.sameFile)
	})
}

// missed looks at files that have come while the newest one is where it was:
// what was written, copied and truncated between two looks at it, and what was
// rotated twice and compressed between them. A copy of what it holds now may come
// to be all that is left of it: that one and what came later is left for then.
func (s *stream) missed(d *folder, cur *part, fresh []member) {
	for _, m := range fresh {
		switch {
		case d.copyOf(m, cur):
			return
		case m.packed, m.size > 0 && m.mtime >= cur.begun:
			s.pastFile(d, m)
		}
	}
}

// openAll begins files from their start, oldest first.
func (s *stream) openAll(d *folder, ms []member, now time.Time) {
	for _, m := range ms {
		if m.packed {
			s.forget(m.info)
			continue
		}
		s.open(d, m, 0, now)
	}
}

// open begins a file at an offset.
func (s *stream) open(d *folder, m member, offset int64, now time.Time) *part {
	if len(s.parts) >= maxParts {
		s.close(s.parts[0])
	}
	f, err := d.openMember(m)
	if err != nil {
		s.problem = err
		return nil
	}
	p, err := newPart(f, m.name, offset, now)
	if err == nil {
		p.last, err = infoOf(f.fd)
		p.last.size = -1 // as not yet looked at
		p.begun = p.last.mtime
	}
	if err != nil {
		s.problem = err
		f.Close()
		return nil
	}
	s.problem = nil
	s.parts = append(s.parts, p)
	return p
}

func (s *stream) close(p *part) {
	i := p.last
	if now, err := infoOf(p.file.fd); err == nil {
		i = now
	}
	s.forget(i)
	s.keepHead(p.head())
	p.file.Close()
	s.parts = slices.DeleteFunc(s.parts, func(o *part) bool { return o == p })
}
