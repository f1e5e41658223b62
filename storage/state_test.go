package storage

import (
	"syscall"
	"testing"
	"time"
)

func TestStateIsKeptByName(t *testing.T) {
	s := openReal(t, dbPath(t))
	if v, err := s.State(t.Context(), "a"); v != nil || err != nil {
		t.Fatalf("before anything is kept: %q, %v", v, err)
	}
	s.PutState("a", []byte("one"))
	s.PutState("b", []byte("other"))
	s.PutState("a", []byte("two"))
	feed(s.Store, 0, 10)
	s.drained(t)
	// Neither has a minute ended nor was the file closed.
	if err := syscall.Kill(s.Status().ChildPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "another child", func() bool { return s.Status().Restarts > 0 && s.Status().ChildUp })
	s.drained(t)
	s.shut(t)
	for range 2 { // the second time it is in the file
		s = openTest(t, s.path)
		for name, want := range map[string]string{"a": "two", "b": "other", "c": ""} {
			if v, err := s.State(t.Context(), name); string(v) != want || err != nil {
				t.Errorf("%s: %q, %v, want %q", name, v, err, want)
			}
		}
		s.shut(t)
	}
}

func TestStateInMemory(t *testing.T) {
	s := NewMemory(Options{Now: time.Now})
	value := []byte("x")
	s.PutState("a", value)
	value[0] = 'y'
	if v, err := s.State(t.Context(), "a"); string(v) != "x" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	if v, err := s.State(t.Context(), "b"); v != nil || err != nil {
		t.Errorf("%q, %v", v, err)
	}
}
