package web

import (
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestShared(t *testing.T) {
	var s shared
	var made atomic.Int32
	at := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	ask := func(key string, to time.Time) string {
		body, err := s.get(t.Context(), key, to, func() ([]byte, error) { return []byte(key + strconv.Itoa(int(made.Add(1)))), nil })
		if err != nil {
			t.Error(err)
		}
		return string(body)
	}
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() { ask("/", at) })
	}
	all.Wait()
	if made.Load() != 1 {
		t.Errorf("five people cost %d renderings", made.Load())
	}
	for _, c := range []struct {
		key  string
		to   time.Time
		want string
	}{
		{"/", at, "/1"},
		{"/", at.Add(900 * time.Millisecond), "/1"},
		{"/", at.Add(time.Second), "/2"},
		{"/", at, "/3"}, // a clock that went back
		{"/disks", at, "/disks4"},
	} {
		if got := ask(c.key, c.to); got != c.want {
			t.Errorf("%s at %v is %q, want %q", c.key, c.to, got, c.want)
		}
	}
	if _, err := s.get(t.Context(), "/bad", at, func() ([]byte, error) { return nil, errors.New("no") }); err == nil {
		t.Error("an error is lost")
	}
	if got := ask("/bad", at); got != "/bad5" {
		t.Errorf("after an error there is %q", got)
	}
	for i := range 3 * maxShared {
		ask("/?"+strconv.Itoa(i), at)
	}
	if len(s.pages) != maxShared {
		t.Errorf("%d pages are kept", len(s.pages))
	}
}
