package storage

import (
	"slices"
	"sync"
	"time"
)

// history holds every value that each key has had, so that the state at any
// time can be told.
type history[T any] struct {
	mu   sync.RWMutex
	keys map[string][]version[T]
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
	h.keys[key] = slices.Insert(vs, i, version[T]{at, value})
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
