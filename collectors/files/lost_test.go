package files

import (
	"bytes"
	"testing"
	"time"

	"stallmark/storage/model"
)

// stuck is a disk that takes nothing until it is freed.
type stuck struct {
	bytes.Buffer
	free chan bool
}

func (s *stuck) Write(p []byte) (int, error) {
	<-s.free
	return s.Buffer.Write(p)
}

func TestCommitDoesNotWaitForTheDisk(t *testing.T) {
	out := &stuck{free: make(chan bool)}
	w, err := NewWriter(out, WriterConfig{Meta: testMeta(), Root: testHost(0)})
	if err != nil {
		t.Fatal(err)
	}
	beats := 2*backlog + 10
	for beat := range beats {
		readAllOf(t, w, "proc/vmstat")
		if beat == beats-1 { // lost, and its fact must not be
			w.Fact(model.Fact{Key: "thp.enabled", Value: "always"})
		}
		w.Commit(testStart.Add(time.Duration(beat) * time.Second))
	}
	committed, lost := w.Ticks()
	if committed+lost != beats || lost < backlog {
		t.Errorf("%d committed and %d lost of %d", committed, lost, beats)
	}
	close(out.free)
	w.cfg.Patient = true
	w.Commit(testStart.Add(time.Hour))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	ticks := replayed(t, open(t, out.Bytes()))
	if len(ticks) != committed+1 || ticks[committed].Facts["thp.enabled"] != "always" {
		t.Errorf("%d ticks, the last with facts %v", len(ticks), ticks[len(ticks)-1].Facts)
	}
}
