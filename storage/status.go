package storage

import "time"

// Status is what the store says about itself. It is at hand at once: nothing
// is asked of the child, whose part is as it last told, every 10 s or so.
type Status struct {
	// Path is the file; empty if everything is in memory only.
	Path string
	// ChildUp is whether the child process answers; ChildError is why not.
	// Silent is for how long it has said nothing, if that is too long.
	ChildUp    bool
	ChildPID   int
	ChildError string
	Silent     time.Duration
	Restarts   int

	// HeadBytes and HeadSeries are what is in memory, HeadFrom and HeadTo the
	// times of its oldest and newest beat.
	HeadBytes        int64
	HeadSeries       int
	HeadFrom, HeadTo time.Time
	// Unconfirmed counts beats and notes that the child has not confirmed yet.
	Unconfirmed int
	// Waiting is how much older than the newest beat the first is that has not
	// been confirmed. A disk that stands still shows here: the child itself goes on.
	Waiting time.Duration
	// LostBeats are beats that were refused, or dropped before they were safe;
	// LostNotes are events, facts and findings dropped likewise.
	LostBeats, LostNotes uint64

	// FileBytes is the size of the file, UsedBytes what of it is in use,
	// JournalBytes what lies beside it, FreeBytes what the file system has left.
	FileBytes, UsedBytes, JournalBytes, FreeBytes int64
	// Blocks hold a minute of samples or ten, Rollups an hour of rollups; Pending
	// are minutes that are not in a block yet.
	Blocks, Rollups, Pending int
	// Oldest is the time of the oldest block.
	Oldest time.Time
	// StoreTook is how long the last write of a minute took.
	StoreTook time.Duration
	// Full is whether the file has stopped growing for want of free space.
	Full bool
	// WriteError is why the last write failed, empty if it went well.
	WriteError string
	// MovedAside is where a damaged file went, and why.
	MovedAside string
	// BadBlocks are blocks that cannot be read, and why. They stay in the file.
	BadBlocks map[string]string
}

// Status says how the store is.
func (s *Store) Status() Status {
	st := Status{LostBeats: s.lost.Load()}
	s.head.mu.RLock()
	st.HeadBytes, st.HeadSeries = s.head.bytes, len(s.head.byKey)
	seq := s.head.seq
	s.head.mu.RUnlock()
	if from, to, ok := s.head.extent(); ok {
		st.HeadFrom, st.HeadTo = time.UnixMilli(from).UTC(), time.UnixMilli(to).UTC()
	}
	if s.client == nil {
		return st
	}
	st.Path = s.opts.Path
	waiting, lost := s.outbox.state()
	st.LostNotes = lost
	st.Unconfirmed = waiting + int(seq-min(seq, s.client.safeBeat.Load()))
	st.Waiting = s.head.waiting(s.client.safeBeat.Load())
	s.client.status(&st)
	return st
}

// status fills in the child's part.
func (c *client) status(st *Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	st.ChildUp, st.ChildError, st.Restarts = c.link != nil, c.err, c.restarts
	if c.link != nil {
		st.ChildPID = c.proc.pid
		if quiet := c.link.silence(); quiet >= suspicious {
			st.ChildUp, st.Silent = false, quiet
			st.ChildError = errChild.Error()
		} else if c.link.stuck.Load() {
			st.ChildUp, st.ChildError = false, errChild.Error()
		}
	}
	d := c.state
	st.FileBytes, st.UsedBytes, st.JournalBytes, st.FreeBytes = d.FileBytes, d.UsedBytes, d.JournalBytes, d.FreeBytes
	st.Blocks, st.Rollups, st.Pending = d.Blocks, d.Rollups, d.Pending
	if d.Oldest != 0 {
		st.Oldest = time.UnixMilli(d.Oldest).UTC()
	}
	st.StoreTook, st.Full, st.MovedAside, st.BadBlocks = d.StoreTook, d.Full, d.MovedAside, d.Bad
	if st.WriteError = d.WriteError; st.WriteError == "" {
		st.WriteError = d.JournalError
	}
}
