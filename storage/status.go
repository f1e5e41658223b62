package storage

import "time"

// Status is what the store says about itself. It is at hand at once: nothing
// is asked of the child.
type Status struct {
	// Durable is whether there is a file at all.
	Durable bool
	// ChildUp is whether the child answers; ChildError is why not.
	ChildUp    bool
	ChildError string
	Restarts   int

	// HeadBytes and HeadSeries are what the head holds.
	HeadBytes  int64
	HeadSeries int
	// LostBeats are beats that were refused, or dropped before they were safe.
	LostBeats uint64
	// Oldest and Newest are the times of the head's rows.
	Oldest, Newest time.Time
}

// Status says how the store is.
func (s *Store) Status() Status {
	st := Status{LostBeats: s.lost.Load()}
	s.head.mu.RLock()
	st.HeadBytes, st.HeadSeries = s.head.bytes, len(s.head.byKey)
	s.head.mu.RUnlock()
	if from, to, ok := s.head.extent(); ok {
		st.Oldest, st.Newest = time.UnixMilli(from).UTC(), time.UnixMilli(to).UTC()
	}
	return st
}
