package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stallmark/storage/model"
)

// storeLines is a store.log with one append that was stuck for 4 s up to a time, and
// the nine writers behind it. RocketMQ writes GMT+8.
func storeLines(until time.Time) string {
	var b strings.Builder
	stamp := until.Add(8 * time.Hour).Format(time.DateTime)
	fmt.Fprintf(&b, "%s INFO StoreStatsService - [STORETPS] put_tps 812.0 get_found_tps 1.0 get_miss_tps 0.0 get_transfered_tps 1.0\n",
		until.Add(8*time.Hour-20*time.Second).Format(time.DateTime))
	fmt.Fprintf(&b, "%s WARN SendMessageThread_1 - [NOTIFYME]putMessage in lock cost time(ms)=4000, bodyLength=1024 AppendMessageResult=AppendMessageResult"+
		"{status=PUT_OK, wroteOffset=53687091200, wroteBytes=1201, msgId='0A000001', storeTimestamp=%d, logicsOffset=9, pagecacheRT=3998, msgNum=1}\n",
		stamp, until.Add(-4*time.Second).UnixMilli())
	for i := range 9 {
		fmt.Fprintf(&b, "%s WARN SendMessageThread_%d - putMessage not in lock elapsed time(ms)=%d, bodyLength=1024\n", stamp, i+2, 3990-i)
	}
	return b.String()
}

func brokerLines(until time.Time) string {
	at := func(d time.Duration) string { return until.Add(8*time.Hour + d).Format(time.DateTime) }
	return at(-30*time.Second) + " INFO BrokerControllerScheduledThread1 - slave fall behind master: 0 bytes\n" +
		at(0) + " WARN BrokerFastFailureScheduledThread1 - broker jstack \n"
}

// stoppedLines is a GC log in which a collection of 4 ms waited 3.9 s for a thread.
func stoppedLines(until time.Time) string {
	const layout = "2006-01-02T15:04:05.000-0700"
	return until.Add(-30*time.Second).Format(layout) + ": 870.000: Total time for which application threads were stopped: 0.0021000 seconds, Stopping threads took: 0.0001000 seconds\n" +
		until.Add(-5*time.Millisecond).Format(layout) + ": 900.000: [GC pause (G1 Evacuation Pause) (young), 0.0040000 secs]\n" +
		"   [Eden: 512.0M(512.0M)->0.0B(512.0M) Survivors: 0.0B->0.0B Heap: 1024.0M(4096.0M)->512.0M(4096.0M)]\n" +
		" [Times: user=0.01 sys=0.00, real=0.00 secs]\n" +
		until.Format(layout) + ": 900.005: Total time for which application threads were stopped: 3.9041000 seconds, Stopping threads took: 3.9000000 seconds\n"
}

func serverLines(until time.Time) string {
	at := until.Format("2006-01-02 15:04:05") + ",130"
	return "[" + until.Add(-time.Minute).Format("2006-01-02 15:04:05") + ",130] INFO [LocalLog partition=orders-3, dir=/data/kafka] Rolled new log segment at offset 1 in 2 ms. (kafka.log.LocalLog)\n" +
		"[" + at + "] INFO [LocalLog partition=orders-3, dir=/data/kafka] Rolled new log segment at offset 123456 in 4130 ms. (kafka.log.LocalLog)\n" +
		"[" + at + "] INFO [Partition orders-3 broker=1] Shrinking ISR from 1,2,3 to 1,3. Leader: (highWatermark: 100, endOffset: 120). " +
		"Out of sync replicas: (brokerId: 2, endOffset: 100). (kafka.cluster.Partition)\n"
}

func writeLogs(t *testing.T, texts map[string]string) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}

func finding(r model.Report, id string) *model.Finding {
	if i := slices.IndexFunc(r.Findings, func(f model.Finding) bool { return f.Signature == id }); i >= 0 {
		return &r.Findings[i]
	}
	return nil
}

func found(r model.Report) (ids []string) {
	for _, f := range r.Findings {
		ids = append(ids, f.Signature)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Logs alone say what the broker felt, from when on and of whom; the kernel's part
// stays unknown, and how to get it is said.
func TestDiagnoseBrokerLogs(t *testing.T) {
	until := time.Date(2026, 3, 1, 3, 30, 4, 0, time.UTC)
	for name, c := range map[string]struct {
		logs  map[string]string
		want  []string
		began string // the one that has a duration
		names []string
	}{
		"RocketMQ": {
			map[string]string{"store.log": storeLines(until), "broker.log": brokerLines(until), "gc.log": stoppedLines(until)},
			[]string{"rocketmq-append-stall", "rocketmq-broker-busy", "rocketmq-put-slow", "safepoint-delay"},
			"rocketmq-append-stall",
			[]string{"1 line of 4 s", "SendMessageThread_*"},
		},
		"Kafka": {
			map[string]string{"server.log": serverLines(until)},
			[]string{"kafka-isr-shrink", "kafka-segment-roll-slow"},
			"kafka-segment-roll-slow",
			[]string{"1 line of 4.1", "partition orders-3"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			out := runProgram(t, append([]string{"diagnose", "--json"}, writeLogs(t, c.logs)...)...)
			var r model.Report
			if err := json.Unmarshal([]byte(out.stdout), &r); err != nil {
				t.Fatalf("%v: %s%s", err, out.stdout, out.stderr)
			}
			if got := found(r); !slices.Equal(got, c.want) {
				t.Errorf("found %v, want %v", got, c.want)
			}
			for _, f := range r.Findings {
				if f.Confidence != possible {
					t.Errorf("%s is %s on the word of logs", f.Signature, f.Confidence)
				}
			}
			f := finding(r, c.began)
			if f == nil {
				t.Fatal("not found: " + c.began)
			}
			if d := until.Sub(f.Started); d < 3*time.Second || d > 5*time.Second {
				t.Errorf("%s began %v before its line", f.Signature, d)
			}
			for _, want := range c.names {
				if !strings.Contains(f.Evidence[0].Detail, want) {
					t.Errorf("%q lacks %q", f.Evidence[0].Detail, want)
				}
			}
			for _, id := range []string{"dirty-throttling", "direct-reclaim"} {
				if !slices.ContainsFunc(r.Unknown, func(u model.Unknown) bool { return u.Signature == id && u.Why != "" }) {
					t.Errorf("%s is not among the unknown", id)
				}
			}
			if len(r.Decide) == 0 {
				t.Error("what would decide it is not said")
			}
		})
	}
}

// The same lines inside a recording of a kernel that stalls are one incident with
// what the kernel did as its root.
func TestLinesInARecordingBelongToTheKernelsIncident(t *testing.T) {
	var store tapes
	for capture, c := range map[string]struct {
		root string
		beat int // in which the lines are read
	}{
		"a_dirty_throttle": {"dirty-throttling", 25},
		"c_direct_reclaim": {"direct-reclaim", 58},
	} {
		t.Run(capture, func(t *testing.T) {
			t.Parallel()
			tp := store.of(t, capture)
			early := tp.frames[3].at // followed before anything happens
			tp.log(t, 3, map[string]string{"/logs/gc.log": stoppedLines(early)[:strings.Index(stoppedLines(early), "\n")+1]})
			tp.log(t, c.beat, map[string]string{
				"/logs/store.log":  storeLines(tp.frames[c.beat].at),
				"/logs/broker.log": brokerLines(tp.frames[c.beat].at),
				"/logs/gc.log":     stoppedLines(tp.frames[c.beat].at),
			})
			r, _ := tp.diagnose(t)
			root := finding(r, c.root)
			if root == nil {
				t.Fatalf("found %v", found(r))
			}
			for _, id := range []string{"gc-stop-the-world", "gc-io-stall", "gc-memory-stall"} {
				if finding(r, id) != nil {
					t.Errorf("%s is named", id)
				}
			}
			for _, id := range []string{"rocketmq-append-stall", "rocketmq-put-slow", "rocketmq-broker-busy", "safepoint-delay"} {
				f := finding(r, id)
				if f == nil {
					t.Errorf("%s is missing in %v", id, found(r))
					continue
				}
				if !slices.ContainsFunc(r.Incidents, func(in model.Incident) bool { return in.Root == root.ID && slices.Contains(in.Findings, f.ID) }) {
					t.Errorf("%s is not under %s: %+v", id, c.root, r.Incidents)
				}
			}
		})
	}
}

// log puts logs into a beat of the recording, as written in it.
func (tp tape) log(t *testing.T, beat int, texts map[string]string) {
	t.Helper()
	type chunk struct {
		Data    int    `json:"data"`
		Path    string `json:"path"`
		Kind    string `json:"kind"`
		Process string `json:"process"`
		Pid     int    `json:"pid"`
		Role    string `json:"role"`
		Part    string `json:"part"`
		Live    bool   `json:"live"`
	}
	var chunks []chunk
	for path, text := range texts {
		kind := "text"
		if strings.HasSuffix(path, "gc.log") {
			kind = "gc"
		}
		tp.frames[beat].files[fmt.Sprintf("logs/%d", len(chunks))] = text
		chunks = append(chunks, chunk{len(chunks), path, kind, "broker", 4242, "rocketmq-broker", filepath.Base(path), true})
	}
	index, err := json.Marshal(map[string]any{"chunks": chunks})
	if err != nil {
		t.Fatal(err)
	}
	tp.frames[beat].files["logs/index"] = string(index)
}
