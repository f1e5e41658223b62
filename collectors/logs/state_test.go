package logs

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"stallmark/collectors/logs/match"
	"stallmark/collectors/logs/stamp"
	"stallmark/storage/model"
)

func TestState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logs.state")
	if got, err := LoadState(path); got != nil || err != nil {
		t.Errorf("none: %v, %v", got, err)
	}
	want := []Position{{
		Log: "rocketmq-broker|/logs/store.log", Name: "store.log", Ino: 42, Mtime: 7,
		mark: mark{Offset: 1000, HeadLen: 256, Head: 1<<64 - 1, TailLen: 128, Tail: 3},
	}, {Log: "|/x", Skipping: true}}
	longer, err := EncodeState(append(want, want...))
	must(t, err)
	data, err := EncodeState(want)
	must(t, err)
	for _, d := range [][]byte{longer, data, longer, data} {
		must(t, SaveState(path, d))
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, d) {
			t.Fatalf("%d bytes, %v; want %d", len(got), err, len(d))
		}
	}
	got, err := LoadState(path)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 2 {
		t.Errorf("%v, %v: want the file and its spare one", entries, err)
	}
	for i := range data {
		broken := append([]byte{}, data...)
		broken[i] ^= 0x20
		if got, err := DecodeState(broken); err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("byte %d changed: %+v", i, got)
		}
		if _, err := DecodeState(data[:i]); !errors.Is(err, ErrState) && i < len(data)-1 {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
}

func FuzzState(f *testing.F) {
	data, err := EncodeState([]Position{{Log: "a", Name: "b", Ino: 1, mark: mark{Offset: 3, HeadLen: 3, TailLen: 3}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("stallmark-logs-1 cbf29ce484222325\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := DecodeState(data)
		if err != nil {
			if !errors.Is(err, ErrState) {
				t.Errorf("%v is no ErrState", err)
			}
			return
		}
		for _, p := range got {
			if !p.sane() {
				t.Errorf("%+v was let through", p)
			}
		}
		if _, err := EncodeState(got); err != nil {
			t.Error(err)
		}
	})
}

// TestTheZoneIsRemembered has lines that were written while nobody read: only the last
// run has seen in which zone.
func TestTheZoneIsRemembered(t *testing.T) {
	r := newRig(t, nil, "server.log")
	r.append("server.log", "x\n")
	r.poll()
	set, err := match.New([]model.LogPattern{inLock})
	must(t, err)
	m := newMatcher(NewSource(SourceConfig{Patterns: set, Now: r.cfg.Now}), r.d.order[0].file)
	m.clock.SawLive(stampOf(t, "2026-01-02 08:49:05 x"), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	r.d.order[0].feeder.consumer = m
	r.append("server.log", "y\n")
	r.poll()
	data, err := EncodeState(r.saved())
	must(t, err)
	saved, err := DecodeState(data)
	must(t, err)
	r.d.shut()
	r.start(saved, "server.log")
	r.poll()
	if z := r.d.order[0].file.zone; z.Proof != stamp.Observed || z.Location.String() != "UTC+05:45" {
		t.Errorf("zone %v of positions %+v", z, saved)
	}
}

func stampOf(t *testing.T, line string) stamp.Stamp {
	t.Helper()
	s, ok := stamp.Find([]byte(line))
	if !ok {
		t.Fatal(line)
	}
	return s
}
