package storage

import (
	"slices"
	"sync"
	"time"
)

// history holds the values that each key has had, so that the state at any time
// can be told.
type history[T any] struct {
	mu      sync.RWMutex
	keys    map[string][]version[T]
	limit   int       // of values of one key, the oldest go beyond it; 0 means none
	dropped time.Time // of the newest value that has gone
}

// version is a value from a time on.
type version[T any] struct {
	at    time.Time
	value T
}

// put states the key's value from at on.
func (h *history[T]) put(key string, at time.Time, value T) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.keys == nil {
		h.keys = map[string][]version[T]{}
	}
	vs := h.keys[key]
	i, same := slices.BinarySearchFunc(vs, at, compareAt[T])
	if same {
		vs[i].value = value
		return
	}
	vs = slices.Insert(vs, i, version[T]{at, value})
	if h.limit > 0 && len(vs) > h.limit {
		// The second oldest is the first that is still right for its time.
		h.dropped = later(h.dropped, vs[1].at)
		vs = slices.Delete(vs, 0, 1)
	}
	h.keys[key] = vs
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func compareAt[T any](v version[T], at time.Time) int { return v.at.Compare(at) }

// at calls f with every key's latest value at or before the time.
func (h *history[T]) at(at time.Time, f func(key string, since time.Time, value T)) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for key, vs := range h.keys {
		i, same := slices.BinarySearchFunc(vs, at, compareAt[T])
		if !same {
			i--
		}
		if i >= 0 {
			f(key, vs[i].at, vs[i].value)
		}
	}
}

// since is since when all is here, given when values began to be put.
func (h *history[T]) since(began time.Time) time.Time {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return later(began, h.dropped)
}

// forget drops the keys for which the test holds.
func (h *history[T]) forget(old func(key string) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, vs := range h.keys {
		if old(key) {
			h.dropped = later(h.dropped, vs[len(vs)-1].at)
			delete(h.keys, key)
		}
	}
}
