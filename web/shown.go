package web

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"stallmark/storage/snapshot"
	"stallmark/web/frozen"
)

// Bounds of the snapshots that are kept ready: bytes in memory, for how long
// after the last look, and how many links to one.
const (
	maxShown  = 64 << 20
	shownFor  = 10 * time.Minute
	maxSights = 32
)

// shown keeps the pages of the snapshots that somebody looks at now. What pages
// do not need, the samples, is not kept.
type shown struct {
	folder *snapshot.Folder
	now    func() time.Time

	mu  sync.Mutex
	all []*shownSnapshot // the last one asked for at the end
}

type shownSnapshot struct {
	id      string
	used    time.Time
	backend *frozen.Backend
	sights  map[string]http.Handler // by the path below which they lie
}

// handler gives the pages of a snapshot below sight.Base. It reads the snapshot
// only if nobody has looked at it lately.
func (s *shown) handler(id string, sight Sight) (http.Handler, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, err := s.find(id)
	if err != nil {
		return nil, err
	}
	if h, ok := one.sights[sight.Base]; ok {
		return h, nil
	}
	if len(one.sights) >= maxSights {
		clear(one.sights)
	}
	h, err := showFrozen(one.backend, sight)
	if err == nil {
		one.sights[sight.Base] = h
	}
	return h, err
}

// find gives a snapshot that is kept, or reads it and lets others go.
func (s *shown) find(id string) (*shownSnapshot, error) {
	if !s.folder.Has(id) { // deleted meanwhile
		s.all = slices.DeleteFunc(s.all, func(one *shownSnapshot) bool { return one.id == id })
		return nil, snapshot.ErrGone
	}
	now := s.now()
	s.all = slices.DeleteFunc(s.all, func(one *shownSnapshot) bool { return one.id != id && now.Sub(one.used) > shownFor })
	if k := slices.IndexFunc(s.all, func(one *shownSnapshot) bool { return one.id == id }); k >= 0 {
		one := s.all[k]
		one.used = now
		s.all = append(slices.Delete(s.all, k, k+1), one)
		return one, nil
	}
	got, err := s.folder.Get(id)
	if err != nil {
		return nil, err
	}
	one := &shownSnapshot{id: id, used: now, backend: frozen.New(got), sights: map[string]http.Handler{}}
	s.all = append(s.all, one)
	for len(s.all) > 1 && s.bytes() > maxShown {
		s.all = slices.Delete(s.all, 0, 1)
	}
	return one, nil
}

func (s *shown) bytes() (n int) {
	for _, one := range s.all {
		n += one.backend.Bytes()
	}
	return n
}
