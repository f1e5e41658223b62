package logs

import (
	"sync"
	"time"
)

// limiter holds reading down to a number of bytes a second over all folders.
type limiter struct {
	mu    sync.Mutex
	rate  int64 // bytes a second
	left  int64
	since time.Time
	now   func() time.Time
}

// take accounts for bytes and waits while they are ahead of the rate.
func (l *limiter) take(n int) {
	if wait := l.owe(n); wait > 0 {
		time.Sleep(wait)
	}
}

// owe accounts for bytes and returns for how long to wait.
func (l *limiter) owe(n int) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if l.since.IsZero() {
		l.since, l.left = now, l.rate
	}
	earned := int64(now.Sub(l.since).Seconds() * float64(l.rate))
	if earned > 0 {
		l.left, l.since = min(l.left+earned, l.rate), now
	}
	if l.left -= int64(n); l.left >= 0 {
		return 0
	}
	return min(time.Duration(float64(-l.left)/float64(l.rate)*float64(time.Second)), time.Second)
}
