package storage

import (
	"fmt"
	"time"
)

const (
	keepMillis = 180_000  // the head keeps at least this much
	headAtMost = 96 << 20 // bytes of the head, whatever has been confirmed
)

// trim drops what is older than the head needs to keep and safe with the child,
// and the oldest minutes beyond the bound on memory, safe or not.
func (s *Store) trim() {
	safe := s.client.safeBeat.Load()
	newest := s.lastAt.Load()
	var lost, from, to int64
	s.head.drop(func(sp *span) bool {
		confirmed := sp.first+uint64(len(sp.times)) <= safe
		if confirmed && sp.start+spanMillis <= newest-keepMillis {
			return true
		}
		if s.head.bytes <= s.maxHead || sp == s.head.spans[len(s.head.spans)-1] {
			return false
		}
		if !confirmed {
			if lost == 0 {
				from = sp.times[0]
			}
			lost += int64(len(sp.times))
			to = sp.times[len(sp.times)-1]
		}
		return true
	})
	if lost == 0 {
		return
	}
	s.lost.Add(uint64(lost))
	s.selfEvent(time.UnixMilli(from).UTC(), time.UnixMilli(to).UTC(),
		fmt.Sprintf("%d beats could not be stored in time and are lost", lost))
}
