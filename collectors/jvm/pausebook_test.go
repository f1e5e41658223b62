package jvm

import (
	"testing"
	"time"
)

func TestPauseBook(t *testing.T) {
	begin := time.Unix(1_700_000_000, 0)
	at := func(from, to int, slack time.Duration) Witnessed {
		return Witnessed{begin.Add(time.Duration(from) * time.Millisecond), begin.Add(time.Duration(to) * time.Millisecond), slack}
	}
	b := NewPauseBook()
	if _, ok := b.Counted("7", at(0, 100, 0)); ok || b.Followed("7") {
		t.Error("a process that is not followed has pauses")
	}
	b.Follow("7")
	b.Follow("8")
	if _, ok := b.Logged("7", at(0, 100, time.Millisecond)); ok {
		t.Error("nothing was counted yet")
	}
	for name, c := range map[string]struct {
		pid  string
		w    Witnessed
		want bool
	}{
		"the same":             {"7", at(3, 98, 50*time.Millisecond), true},
		"a little before":      {"7", at(-140, -40, 50*time.Millisecond), true},
		"too long before":      {"7", at(-500, -400, 50*time.Millisecond), false},
		"after it":             {"7", at(152, 300, 50*time.Millisecond), false},
		"of another process":   {"8", at(0, 100, 50*time.Millisecond), false},
		"by a clock that errs": {"7", at(900, 1000, time.Second), true},
	} {
		if _, ok := b.Counted(c.pid, c.w); ok != c.want {
			t.Errorf("%s: %v", name, ok)
		}
	}
	if w, ok := b.Logged("7", at(160, 290, time.Millisecond)); !ok || w != at(152, 300, 50*time.Millisecond) {
		t.Errorf("what was counted before it was logged: %v %v", w, ok)
	}
	b.Leave("7")
	if b.Followed("7") || !b.Followed("8") {
		t.Error("who is followed")
	}
}

func TestPauseBookIsBounded(t *testing.T) {
	b := NewPauseBook()
	b.Follow("7")
	for i := range 10 * maxBooked {
		from := time.Unix(int64(i)*10, 0)
		b.Logged("7", Witnessed{From: from, To: from.Add(time.Second)})
	}
	if n := len(b.jvms["7"].logged); n != maxBooked {
		t.Errorf("%d pauses are kept", n)
	}
	if _, ok := b.Counted("7", Witnessed{From: time.Unix(10*(10*maxBooked-1), 0), To: time.Unix(10*10*maxBooked, 0)}); !ok {
		t.Error("the newest is not")
	}
	var none *PauseBook
	none.Follow("7")
	none.Leave("7")
	if _, ok := none.Logged("7", Witnessed{From: time.Unix(1, 0)}); ok || none.Followed("7") {
		t.Error("nil knows something")
	}
}
