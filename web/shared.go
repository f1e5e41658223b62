package web

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Bounds of what is kept of live pages: for how long one is shown to others who
// ask for the same, and how many.
const (
	sharedFor = time.Second
	maxShared = 8
)

// shared keeps the newest rendering of live pages, so that five people who look
// at the same page cost as much as one.
type shared struct {
	mu    sync.Mutex
	pages []*sharedPage // the last one asked for at the end
}

// sharedPage is one rendering. Who finds it being made waits for it.
type sharedPage struct {
	key  string
	turn chan struct{} // holds one while the rest is in use
	to   time.Time     // end of the window that is shown
	body []byte
}

// get gives the rendering of a page whose window ends at to, made anew if there
// is none that is young enough. Errors are not kept. Nobody changes the body.
func (s *shared) get(ctx context.Context, key string, to time.Time, render func() ([]byte, error)) ([]byte, error) {
	p := s.page(key)
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if age := to.Sub(p.to); p.body != nil && age >= 0 && age < sharedFor {
		return p.body, nil
	}
	body, err := render()
	if err == nil {
		p.to, p.body = to, body
	}
	return body, err
}

// page finds or makes the place of a page, at the end of the list. The page that
// nobody has asked for longest makes room.
func (s *shared) page(key string) *sharedPage {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := slices.IndexFunc(s.pages, func(p *sharedPage) bool { return p.key == key })
	if k < 0 {
		s.pages = append(s.pages, &sharedPage{key: key, turn: make(chan struct{}, 1)})
		if len(s.pages) > maxShared {
			s.pages = slices.Delete(s.pages, 0, 1)
		}
		return s.pages[len(s.pages)-1]
	}
	p := s.pages[k]
	s.pages = append(slices.Delete(s.pages, k, k+1), p)
	return p
}
