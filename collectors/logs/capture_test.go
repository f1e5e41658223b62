package logs

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// TestReplayGivesWhatTheHostGave records what a source is fed and replays it.
func TestReplayGivesWhatTheHostGave(t *testing.T) {
	live := newDesk(t)
	var c Capture
	beats := []string{
		line(700) + "2026-03-01 12:00:00 ERROR x - strange 7\n", "", line(800) + line(900), strings.Repeat("x", 3*MaxLine) + "\n" + line(1000), "", "",
	}
	again := newDesk(t)
	again.source.cfg.Now = nil
	again.source.mu.Lock()
	again.source.reporters = nil // the log is opened by the replay
	again.source.mu.Unlock()
	again.source.Replay()
	again.at = live.at
	var wantEvents, gotEvents []string
	for i, text := range beats {
		if text != "" {
			c.Tap(live.feeder.file, "store.log", live.offset, []byte(text), true)
		}
		live.feed(text)
		want, events := live.beat()
		wantEvents = append(wantEvents, inShort(events)...)
		root := &collectors.MapRoot{Files: map[string][]byte{}}
		must(t, c.Put(func(name string, data []byte) { root.Files[name] = data }))
		again.root = root
		got, events := again.beat()
		gotEvents = append(gotEvents, inShort(events)...)
		for _, m := range []map[string]float64{want, got} {
			delete(m, "stallmark_log_read_bytes_total")
			delete(m, "stallmark_log_skipped_bytes_total")
		}
		if !maps.Equal(got, want) {
			t.Errorf("beat %d: replay %v, live %v", i, got, want)
		}
	}
	slices.Sort(gotEvents)
	slices.Sort(wantEvents)
	if len(wantEvents) != 5 || !slices.Equal(gotEvents, wantEvents) {
		t.Errorf("events of the replay\n%s\nlive\n%s", strings.Join(gotEvents, "\n"), strings.Join(wantEvents, "\n"))
	}
}

// inShort is what a replay must tell as the host did.
func inShort(events []model.Event) []string {
	var list []string
	for _, e := range events {
		s := fmt.Sprint(e.Text, e.Attrs["pattern"], e.Attrs["after"], e.Count)
		if e.Attrs["pattern"] != "" {
			s += e.From.String() + e.To.String()
		}
		list = append(list, s)
	}
	return list
}

func TestCaptureIsBounded(t *testing.T) {
	var c Capture
	file := &File{Path: "/x"}
	data := bytes.Repeat([]byte("0123456789abcde\n"), 4096)
	for i := range 100 {
		c.Tap(file, "x", int64(i*len(data)), data, true)
	}
	total, chunks := 0, 0
	var ix []byte
	must(t, c.Put(func(name string, data []byte) {
		if name == indexName {
			ix = data
			return
		}
		chunks++
		total += len(data)
	}))
	if total > maxBeatBytes || chunks != 1 {
		t.Errorf("%d bytes in %d chunks", total, chunks)
	}
	s := NewSource(SourceConfig{})
	s.Replay()
	root := &collectors.MapRoot{Files: map[string][]byte{indexName: ix}}
	err := s.Collect(root, collectors.NewOut("logs"))
	if err == nil || !strings.Contains(err.Error(), "logs/0") {
		t.Errorf("a missing chunk: %v", err)
	}
}

func FuzzReplay(f *testing.F) {
	f.Add([]byte(`{"chunks":[{"data":0,"path":"/x","kind":"text","part":"x","offset":-1}]}`), []byte("a\nb"))
	f.Add([]byte(`{"chunks":[{"data":0,"path":"/x","kind":"gc","format":"cri"}],"left_out":7}`), []byte("[1s] GC(1) Pause\n"))
	f.Fuzz(func(t *testing.T, ix, data []byte) {
		d := newDesk(t)
		d.source.cfg.Now = nil
		d.source.Replay()
		root := &collectors.MapRoot{Files: map[string][]byte{indexName: ix, "logs/0": data}}
		for range 3 {
			d.at = d.at.Add(1e9)
			d.out.Reset(d.at)
			_ = d.source.Collect(root, d.out)
			d.out.EndMissing()
		}
	})
}
