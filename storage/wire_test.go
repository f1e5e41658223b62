package storage

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// writes is a connection that counts what is written to it.
type writes struct {
	net.Conn
	texts []string
}

func (w *writes) Write(b []byte) (int, error) {
	w.texts = append(w.texts, string(b))
	return len(b), nil
}

func TestQueuedMessagesAreWrittenTogether(t *testing.T) {
	conn := &writes{}
	w := &wire{conn: conn, timeout: time.Hour}
	for i, step := range []struct {
		do   func() error
		want int // writes after it
	}{
		{func() error { return w.flush() }, 0},
		{func() error { return w.queue(msgNote, 1, []byte("a")) }, 0},
		{func() error { return w.queue(msgBeat, 2, nil) }, 0},
		{func() error { return w.flush() }, 1},
		{func() error { return w.queue(msgNote, 3, []byte("b")) }, 1},
		{func() error { return w.send(msgAsk, 4, []byte("c")) }, 2},
		{func() error { return w.queue(msgNote, 5, make([]byte, maxQueued)) }, 3},
	} {
		if err := step.do(); err != nil || len(conn.texts) != step.want {
			t.Errorf("step %d: %d writes, %v; want %d", i, len(conn.texts), err, step.want)
		}
	}
	in := bufio.NewReader(strings.NewReader(strings.Join(conn.texts, "")))
	for id := uint64(1); id <= 5; id++ {
		if m, err := readMessage(in); err != nil || m.id != id {
			t.Errorf("message %d: %+v, %v", id, m.id, err)
		}
	}
	if _, err := readMessage(in); err != io.EOF {
		t.Errorf("after the last: %v", err)
	}
}

func TestOldHistoryIsNotAskedForWhereThereIsNone(t *testing.T) {
	for _, tt := range []struct {
		state diskState
		want  bool
	}{
		{diskState{}, true}, // not told yet
		{diskState{Told: true}, false},
		{diskState{Told: true, From: 1000}, true},
		{diskState{Told: true, From: 1001}, false},
	} {
		c := &client{state: tt.state}
		if got := c.hasUpTo(1000); got != tt.want {
			t.Errorf("%+v: %v, want %v", tt.state, got, tt.want)
		}
	}
}
