package trace

import (
	"cmp"
	"slices"
	"time"
)

// moment is a sample, reduced to what pairing needs.
type moment struct {
	point    *point
	pid, tid int
	time     uint64 // ns
	pause    time.Duration
}

// wait is one wait of one thread, at its end or so far.
type wait struct {
	point    *point
	pid, tid int
	from     uint64        // ns
	lasted   time.Duration // so far
	part     time.Duration // of lasted, not told before
	done     bool
}

// begun is a wait under way.
type begun struct {
	point *point
	pid   int
	from  uint64
	told  uint64 // it has been told up to here
}

// maxUnderWay bounds the waits under way that are remembered.
const maxUnderWay = 1 << 14

// place is where a wait is under way: a thread has at most one of a kind.
type place struct {
	tid  int
	wait string
}

// ledger turns moments into waits.
type ledger struct {
	under map[place]begun
	held  []moment // later than the last settlement
}

func newLedger() *ledger { return &ledger{under: map[place]begun{}} }

// note adds a moment. CPUs come one after the other, so moments of one thread
// that changed its CPU may come in the wrong order.
func (l *ledger) note(m moment) { l.held = append(l.held, m) }

// pair tells the waits that ended up to a time, and pauses. Later moments are
// kept for the next time: of those not all CPUs have been read. A limit of 0
// means that the time is not known: all are taken.
func (l *ledger) pair(upTo uint64, tell func(wait)) {
	slices.SortStableFunc(l.held, func(a, b moment) int { return cmp.Compare(a.time, b.time) })
	n := len(l.held)
	if upTo > 0 {
		n, _ = slices.BinarySearchFunc(l.held, upTo+1, func(m moment, t uint64) int { return cmp.Compare(m.time, t) })
	}
	for _, m := range l.held[:n] {
		l.take(m, tell)
	}
	l.held = l.held[:copy(l.held, l.held[n:])]
}

// progress tells how long the waits under way have lasted at a time.
func (l *ledger) progress(now uint64, tell func(wait)) {
	for p, b := range l.under {
		if now > b.told {
			tell(b.waitUntil(now, p.tid, false))
			b.told = now
			l.under[p] = b
		}
	}
}

// take handles one moment.
func (l *ledger) take(m moment, tell func(wait)) {
	at := place{m.tid, m.point.wait}
	switch m.point.role {
	case rolePause:
		if m.pause > 0 {
			tell(wait{m.point, m.pid, m.tid, m.time, m.pause, m.pause, true})
		}
	case roleBegin:
		if len(l.under) < maxUnderWay {
			l.under[at] = begun{m.point, m.pid, m.time, m.time}
		}
	case roleEnd:
		// Without a beginning it began before we looked: nobody knows when.
		if b, ok := l.under[at]; ok {
			delete(l.under, at)
			tell(b.waitUntil(m.time, m.tid, true))
		}
	}
}

// waitUntil is the wait as it stands at a time.
func (b begun) waitUntil(t uint64, tid int, done bool) wait {
	t = max(t, b.told)
	return wait{b.point, b.pid, tid, b.from, time.Duration(t - b.from), time.Duration(t - b.told), done}
}

// forget drops the waits under way: their ends may have been lost, or will not
// be seen.
func (l *ledger) forget() {
	clear(l.under)
	l.held = l.held[:0]
}
