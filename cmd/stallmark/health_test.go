package main

import (
	"strings"
	"testing"
	"time"

	"stallmark/storage"
)

func TestStorageHealthNamesWhatIsWrong(t *testing.T) {
	well := storageHealth(storage.Status{Path: "x.db", ChildUp: true, Blocks: 2, Rollups: 1, FileBytes: 100, JournalBytes: 20}, 1<<30)
	if well.Detail != "" || !well.Up || well.Blocks != 3 || well.Bytes != 120 {
		t.Errorf("a healthy store: %+v", well)
	}
	ill := storageHealth(storage.Status{
		ChildError: "no answer", WriteError: "disk full", Full: true, MovedAside: "x.db.bad",
		BadBlocks: map[string]string{"b": "checksum", "a": "short"},
	}, 0)
	for _, want := range []string{"no answer", "disk full", "stopped growing", "x.db.bad"} {
		if !strings.Contains(ill.Detail, want) {
			t.Errorf("detail %q does not say %q", ill.Detail, want)
		}
	}
	hung := storageHealth(storage.Status{Path: "x.db", ChildUp: true, Waiting: 2 * time.Minute}, 0)
	if hung.Up || !strings.Contains(hung.Detail, "nothing for 2m0s") {
		t.Errorf("a disk that stands still: %+v", hung)
	}
	if got := strings.Join(ill.BadBlocks, ", "); got != "a: short, b: checksum" {
		t.Errorf("bad blocks %q", got)
	}
}
