package storage

import (
	"bufio"
	"encoding/json"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"stallmark/storage/model"
)

// TestOldestIsToldBeforeItIsConfirmed: what the child has confirmed may be
// forgotten at once, and is then looked for only where the child is known to
// have something so old. The clock goes back meanwhile.
func TestOldestIsToldBeforeItIsConfirmed(t *testing.T) {
	room := &atomic.Bool{}
	room.Store(true)
	p, err := inProcess(Options{Path: dbPath(t), Now: time.Now, Logger: slog.New(slog.DiscardHandler)}, room)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.conn.Close()
		if err := p.wait(); err != nil {
			t.Error(err)
		}
	})
	out, in := &wire{conn: p.conn, timeout: time.Minute}, bufio.NewReader(p.conn)
	if err := out.send(msgHello, 0, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	times := []int64{base, base + 1000, base + 70_000, base - 600_000, base - 599_000}
	h := newHead(time.Second)
	var enc beatEncoder
	for i, at := range times {
		h.append(beatOf(at, []*model.Series{model.NewSeries("level")}, 1))
		var row beatRow
		if !h.row(uint64(i), &row) {
			t.Fatalf("no row %d", i)
		}
		if err := out.send(msgBeat, row.seq, enc.encode(nil, row.at, row.fresh, row.vals)); err != nil {
			t.Fatal(err)
		}
	}
	var told diskState
	for safe := uint64(0); safe < uint64(len(times)); {
		m, err := readMessage(in)
		if err != nil {
			t.Fatal(err)
		}
		switch m.kind {
		case msgState:
			if err := json.Unmarshal(m.body, &told); err != nil {
				t.Fatal(err)
			}
		case msgAck:
			c := cursor{b: m.body}
			for n := c.uvarint(); safe < n; safe++ {
				if at := times[safe]; !told.Told || told.From == 0 || told.From > at {
					t.Errorf("beat %d of %d is confirmed, and the oldest is said to be of %d", safe, at, told.From)
				}
			}
		}
	}
}
