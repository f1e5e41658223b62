package web

import (
	"sync"
	"time"
)

// limiter lets through burst requests at once and one more each interval.
type limiter struct {
	now   func() time.Time
	every time.Duration
	burst int

	mu   sync.Mutex
	next time.Time // when the bucket is full again
}

func (l *limiter) allow() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if l.next.Before(now) {
		l.next = now
	}
	if l.next.Sub(now) > time.Duration(l.burst-1)*l.every {
		return false
	}
	l.next = l.next.Add(l.every)
	return true
}
