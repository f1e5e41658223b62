package pasted

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkReadLog reads lines that no format claims: a broker's log.
func BenchmarkReadLog(b *testing.B) {
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "2026-03-01 03:12:%02d INFO StoreStatsService - [STORETPS] put_tps 1523.4 %d get_found_tps 3.2 get_miss_tps 0.1 get_transfered_tps 3.2\n", i%60, i)
		fmt.Fprintf(&text, "2026-03-01 03:12:%02d WARN SendMessageThread_%d - [NOTIFYME]putMessage in lock cost time(ms)=%d, bodyLength=1024 AppendMessageResult=AppendMessageResult{status=PUT_OK}\n", i%60, i%16, i)
	}
	data := []byte(text.String())
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if t := Read("store.log", data, Options{}); len(t.Left) != 1 {
			b.Fatalf("%d pieces", len(t.Left))
		}
	}
}

func TestLoggedLine(t *testing.T) {
	for text, want := range map[string]bool{
		"2026-03-01 03:12:41 INFO StoreStatsService - [STORETPS] put_tps 1": true,
		"[2026-03-01 03:12:41,123] WARN [ReplicaManager broker=1] x":        true,
		"[2026-03-01T03:12:41.123+0000][1.2s][info][gc] GC(1) Pause":        true,
		"2026-03-01T03:12:41.123+0000: 1.2: [GC (Allocation Failure)":       true,
		"2026-03-01 03:12:41":                                                       false,
		"2026-03-01 03:12:41 1 0 0 1234 5678":                                       false,
		"2026-03-01T03:12:41+0000 h kernel: INFO: task java:12 x":                   false,
		"2026-03-01 03:12:41 INFO: task java:12 blocked for more than 120 seconds.": false,
		"INFO x": false,
		"":       false,
	} {
		if got := loggedLine(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
