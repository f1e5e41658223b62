package gclog

import (
	"strings"
	"testing"
	"time"
)

// short tells a pause in one line.
func short(p *Pause) string {
	s := []string{string(p.Label()), p.Cause, p.Duration.String()}
	if p.Start.Uptime >= 0 {
		s = append(s, "@"+p.Start.Uptime.String())
	}
	if p.Heap.After != Unknown {
		s = append(s, sizeText(p.Heap.Before)+">"+sizeText(p.Heap.After)+"/"+sizeText(p.Heap.Capacity))
	}
	if p.CPU.Known {
		s = append(s, p.CPU.User.String()+" "+p.CPU.Sys.String()+" "+p.CPU.Real.String())
	}
	return strings.Join(s, "|")
}

func sizeText(v int64) string { return count("", v>>10, true).Value.String() + "K" }

type legacyCase struct {
	name, log string
	want      []string
	stops     int64 // safepoints
}

func legacyCases() []legacyCase {
	return []legacyCase{
		{"Parallel, JDK 8", `OpenJDK 64-Bit Server VM (25.342-b07) for linux-amd64 JRE (1.8.0_342-b07), built on Jul 16 2022
CommandLine flags: -XX:+PrintGC -XX:+PrintGCDetails -XX:+UseParallelGC
2024-03-05T10:00:00.100+0100: 3.200: [GC (Allocation Failure) [PSYoungGen: 70K->20K(80K)] 100K->60K(200K), 0.0437135 secs] [Times: user=0.12 sys=0.01, real=0.04 secs]
2024-03-05T10:00:04.500+0100: 7.600: [Full GC (System.gc()) [PSYoungGen: 9K->0K(80K)] [ParOldGen: 32K->30K(100K)] 41K->30K(180K), [Metaspace: 16K->16K(1064960K)], 0.6492397 secs] [Times: user=1.20 sys=0.03, real=0.65 secs]
9.000: [GC-- [PSYoungGen: 87K->87K(88K)] 233K->241K(241K), 0.7651430 secs]
10.000: [GC (GCLocker Initiated GC) --[PSYoungGen: 87K->87K(88K)] 233K->241K(241K), 0.7651430 secs]
`, []string{
			"young|Allocation Failure|43.7135ms|@3.2s|100K>60K/200K|120ms 10ms 40ms",
			"full|System.gc()|649.2397ms|@7.6s|41K>30K/180K|1.2s 30ms 650ms",
			"evacuation-failure||765.143ms|@9s|233K>241K/241K",
			"evacuation-failure|GCLocker Initiated GC|765.143ms|@10s|233K>241K/241K",
		}, 0},
		{"Serial, without details and without stamps", `[GC 17024K->2610K(83008K), 0.0108498 secs]
[GC (Allocation Failure)  17034K->2620K(83008K), 0.0100000 secs]
[Full GC 19308K->10518K(83008K), 0.1100901 secs]
[Full GC (Metadata GC Threshold)  19308K->10518K(83008K), 0.1200000 secs]
`, []string{
			"young||10.8498ms|17024K>2610K/83008K", "young|Allocation Failure|10ms|17034K>2620K/83008K",
			"full||110.0901ms|19308K>10518K/83008K", "full|Metadata GC Threshold|120ms|19308K>10518K/83008K",
		}, 0},
		{"Serial, a young collection that becomes a full one", `1.5: [GC (Allocation Failure) 1.500: [DefNew (promotion failed) : 30K->30K(40K), 0.0100000 secs]1.510: [Tenured: 50K->40K(60K), 0.0500000 secs] 80K->40K(100K), [Metaspace: 2K->2K(1056768K)], 0.0612345 secs] [Times: user=0.06 sys=0.00, real=0.06 secs]
`, []string{"full|Allocation Failure|61.2345ms|80K>40K/100K|60ms 0s 60ms"}, 0},
		{"CMS, interleaved", `10.100: [GC (CMS Initial Mark) [1 CMS-initial-mark: 156K(218K)] 185K(316K), 0.0010369 secs] [Times: user=0.00 sys=0.00, real=0.00 secs]
10.102: [CMS-concurrent-mark-start]
10.200: [GC (Allocation Failure) 10.200: [ParNew10.210: [CMS-concurrent-mark: 0.090/0.100 secs] [Times: user=7.00 sys=6.00, real=5.00 secs]
: 86K->10K(97K), 0.0088699 secs] 86K->80K(316K), 0.0106548 secs] [Times: user=0.02 sys=0.00, real=0.01 secs]
10.300: [CMS-concurrent-preclean: 0.001/0.001 secs] [Times: user=9.00 sys=0.00, real=9.00 secs]
10.400: [GC (CMS Final Remark) [YG occupancy: 1868 K (9792 K)]10.400: [GC (CMS Final Remark) 10.400: [ParNew: 8K->1K(9K), 0.0020000 secs] 9K->2K(20K), 0.0021000 secs] [Times: user=0.00 sys=0.00, real=0.00 secs]
10.403: [Rescan (parallel) , 0.0007821 secs]10.404: [weak refs processing, 0.0004025 secs][1 CMS-remark: 416K(420K)] 435K(518K), 0.0139463 secs] [Times: user=0.03 sys=0.00, real=0.01 secs]
11.000: [GC 11.000: [ParNew: 118K->118K(118K), 0.0000176 secs]11.001: [CMS11.002: [CMS-concurrent-abortable-preclean: 0.001/0.055 secs] [Times: user=3.00 sys=0.00, real=0.06 secs]
 (concurrent mode failure): 91K->20K(131K), 0.0186232 secs] 209K->20K(249K), [CMS Perm : 2561K->2560K(21248K)], 0.0187293 secs] [Times: user=0.01 sys=0.00, real=0.02 secs]
`, []string{
			"initial-mark||1.0369ms|@10.1s|0s 0s 0s",
			"young|Allocation Failure|10.6548ms|@10.2s|86K>80K/316K|20ms 0s 10ms",
			"remark||13.9463ms|@10.4s|30ms 0s 10ms",
			"full||18.7293ms|@11s|209K>20K/249K|10ms 0s 20ms",
		}, 0},
		{"CMS with heap and free list statistics, JDK 7", `2.000: [GCBefore GC:
Statistics for BinaryTreeDictionary:
------------------------------------
 free=2801664 frag=0.0000
{Heap before GC invocations=1 (full 1):
 par new generation   total 1310720K, used 830688K [0x0000000640000000, 0x00000006a0000000, 0x00000006a0000000)
2.001: [ParNew
Desired survivor size 134217728 bytes, new threshold 1 (max 1)
- age   1:   19742112 bytes,   19742112 total
: 438K->50K(492K), 0.0051086 secs] 438K->400K(1587K)After GC:
Max   Chunk Size: 1891130
 free=1891130 frag=0.0000
, 0.0054252 secs] [Times: user=0.02 sys=0.05, real=0.01 secs]
`, []string{"young||5.4252ms|@2s|438K>400K/1587K|20ms 50ms 10ms"}, 0},
		{"Parallel with adaptive sizes, tenuring and references", `0.186: [GC (Allocation Failure)0.198: [SoftReference, 0 refs, 0.0001036 secs]0.198: [JNI Weak Reference, 0.0000340 secs]AdaptiveSizePolicy::compute_survivor_space_size_and_thresh:  survived: 2606192  promoted: 13908608  overflow: trueAdaptiveSizeStart: 0.199 collection: 1
Desired survivor size 2621440 bytes, new threshold 7 (max 15)
AdaptiveSizePolicy::survivor space sizes: collection: 1 (2621440, 2621440) -> (2621440, 2621440)
AdaptiveSizeStop: collection: 1
 [PSYoungGen: 16865K->2545K(19456K)] 16865K->16127K(62976K), 0.0134562 secs] [Times: user=0.02 sys=0.05, real=0.01 secs]
`, []string{"young|Allocation Failure|13.4562ms|@186ms|16865K>16127K/62976K|20ms 50ms 10ms"}, 0},
		{"G1 with everything and decimal commas", `2024-02-20T14:50:39.533+0100: 16576,607: Total time for which application threads were stopped: 0,0003060 seconds, Stopping threads took: 0,0001000 seconds
2024-02-20T14:50:41.432+0100: 16578,506: [GC pause (G1 Evacuation Pause) (young)
Desired survivor size 8912896 bytes, new threshold 15 (max 15)
- age   1:     481952 bytes,     481952 total
 16578,506: [G1Ergonomics (CSet Construction) start choosing CSet, _pending_cards: 1887, predicted base time: 16,71 ms, target pause time: 50,00 ms]
 (to-space exhausted), 0,0282200 secs]
   [Parallel Time: 24,5 ms, GC Workers: 4]
      [GC Worker Start (ms): Min: 16578506,5, Avg: 16578506,6, Max: 16578506,7, Diff: 0,2]
      [Other: 2,3 ms]
   [Eden: 124,0M(124,0M)->0,0B(126,0M) Survivors: 12,0M->11,0M Heap: 214,5M(256,0M)->90,5M(256,0M)]
 [Times: user=0,10 sys=0,00, real=0,03 secs]
2024-02-20T14:50:41.461+0100: 16578,535: Total time for which application threads were stopped: 0,0292120 seconds
16579,000: [GC remark 16579,001: [Finalize Marking, 0,0008144 secs] 16579,002: [GC ref-proc, 0,0066596 secs] 16579,003: [Unloading, 0,0904835 secs], 0,1005220 secs]
 [Times: user=0,18 sys=0,00, real=0,10 secs]
16580,000: [GC cleanup 75M->25M(103M), 0,0004412 secs]
 [Times: user=0,00 sys=0,00, real=0,00 secs]
`, []string{
			"evacuation-failure|G1 Evacuation Pause|28.22ms|@4h36m18.506s|219648K>92672K/262144K|100ms 0s 30ms",
			"remark||100.522ms|@4h36m19s|180ms 0s 100ms",
			"cleanup||441.2µs|@4h36m20s|76800K>25600K/105472K|0s 0s 0s",
		}, 2},
		{"G1, a concurrent thread in the middle of the line", `312.402: [GC pause (young)2012-02-24T03:50:08.554-0800: 312.680: [GC concurrent-mark-start]
 (initial-mark), 0.28645100 secs]
   [Parallel Time:   1.6 ms]
   [ 68M->62M(126M)]
 [Times: user=0.30 sys=0.10, real=0.28 secs]
313.000: [GC pause (young)0.333 (initial-mark), 0.00178520 secs]
:    [GC concurrent-mark-start]
314.000: [GC pause (mixed) 10M->5M(126M), 0.0030000 secs]
315.000: [Full GC (Allocation Failure)  30G->12G(32G), 12.3000000 secs]
   [Eden: 0.0B(1.0G)->0.0B(2.0G) Survivors: 0.0B->0.0B Heap: 30.0G(32.0G)->12.0G(32.0G)], [Metaspace: 3K->3K(8K)]
 [Times: user=20.00 sys=1.00, real=12.30 secs]
`, []string{
			"concurrent-start||286.451ms|@5m12.402s|69632K>63488K/129024K|300ms 100ms 280ms",
			"concurrent-start||1.7852ms|@5m13s",
			"mixed||3ms|@5m14s|10240K>5120K/129024K",
			"full|Allocation Failure|12.3s|@5m15s|31457280K>12582912K/33554432K|20s 1s 12.3s",
		}, 0},
		{"Shenandoah of JDK 8", `0.234: [Concurrent reset 32854K->32983K(34816K), 0.401 ms]
0.234: [Pause Init Mark (process weakrefs), start]
0.236: [Pause Init Mark (process weakrefs), 1.983 ms]
0.300: [Pause Degenerated GC (Update Refs) 30M->20M(64M), 6.500 ms]
0.400: [Pause Full 60M->20M(64M), 16.500 ms]
`, []string{
			"mark-start||1.983ms|@234.017ms", "degenerated||6.5ms|@293.5ms|30720K>20480K/65536K", "full||16.5ms|@383.5ms|61440K>20480K/65536K",
		}, 0},
		{"a heap dump inside", `221063.690: [Full GC (GCLocker Initiated GC) 221063.690: [Heap Dump (before full gc): , 177.2978460 secs]221240.988: [CMS: 12450K->1828K(12582K), 17.6949841 secs]221258.683: [Heap Dump (after full gc): , 23.6992554 secs] 16083K->1828K(16357K), [Metaspace: 52813K->52813K(1099776K)], 218.6928810 secs] [Times: user=178.09 sys=26.88, real=218.69 secs]
`, []string{"full|GCLocker Initiated GC|3m38.692881s|@61h24m23.69s|16083K>1828K/16357K|2m58.09s 26.88s 3m38.69s"}, 0},
		{"rotated, with an entry over two files", `2016-04-14 22:37:22 GC log file created logs/gc.log.1
5.000: [GC pause (G1 Evacuation Pause) (young)
2016-04-14 22:41:41 GC log file has reached the maximum size. Saved as logs/gc.log.1
2016-04-14 22:41:41 GC log file created logs/gc.log.2
OpenJDK 64-Bit Server VM (25.72-b15) for linux-amd64 JRE (1.8.0_72-b15), built on Dec 22 2015
CommandLine flags: -XX:+PrintGC -XX:+UseG1GC
, 0.0200000 secs]
`, []string{"young|G1 Evacuation Pause|20ms|@5s"}, 0},
		{"damaged: half lines, a lost end, NULs, foreign lines", "\x00\x00\x00\x001.000: [GC 10K->5K(20K), 0.0010000 secs]\r\n" + `2.000: [GC pause (young)
, 0.5 se
3.000: [GC 12K->5K(20K), 0.0020000 secs]
2024-06-16T0,959: Total time for which application threads were stopped: 0,0002170 seconds
cation threads were stopped: 0,0002170 seconds
, 0.0430000 secs]
[GC] this is not ours, it took 5 secs]
INFO [GC-1] [main] started, 0.5 secs
4.000: [GC pause (young)
2024-03-05 10:00:00,123 INFO [main] something - [GC 1K->1K(1K), 9.0 secs]
, 0.0040000 secs]
`, []string{"young||1ms|@1s|10K>5K/20K", "young||2ms|@3s|12K>5K/20K", "young||4ms|@4s"}, 0},
	}
}

func TestLegacy(t *testing.T) {
	for _, c := range legacyCases() {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			f := parse(t, []byte(c.log), Handler{Pause: func(p *Pause) { got = append(got, short(p)) }})
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			if f.Safepoints != c.stops || f.JVMs != 1 {
				t.Errorf("%d safepoints, want %d; %d JVMs", f.Safepoints, c.stops, f.JVMs)
			}
		})
	}
}

// The wall clock with its offset is the begin of the pause in the old format.
func TestLegacyTimes(t *testing.T) {
	var got []Pause
	parse(t, []byte("2024-03-05T10:00:00.100+0530: 3.200: #7: [GC (Allocation Failure) 10K->5K(20K), 2.0000000 secs]\n"),
		Handler{Pause: func(p *Pause) { got = append(got, *p) }})
	want := time.Date(2024, 3, 5, 4, 30, 0, 100e6, time.UTC)
	if len(got) != 1 || !got[0].Start.Wall.Equal(want) || got[0].Start.Clock != ClockWall || got[0].Start.Uptime != 3200*time.Millisecond {
		t.Errorf("got %+v", got)
	}
}

// The table of safepoint statistics counts only where there are no other lines.
func TestStatistics(t *testing.T) {
	const rows = `         vmop                    [threads: total initially_running wait_to_block]    [time: spin block sync cleanup vmop] page_trap_count
12.345: G1IncCollectionPause             [      31          1              1    ]      [     0     0   150     2    12    ]  0
13.345: RevokeBias                       [      31          1              1    ]      [     0     0     0     1     0    ]  0
`
	f := parse(t, []byte(rows), Handler{})
	if s := f.Stops(); s.Safepoints != 2 || s.SafepointTotal != 165*time.Millisecond || s.OtherSafepoints != 1 || s.Dominated != 1 {
		t.Errorf("got %+v", s)
	}
	f = parse(t, []byte(rows+"2.500: Total time for which application threads were stopped: 0.5000000 seconds, Stopping threads took: 0.0001000 seconds\n"), Handler{})
	if s := f.Stops(); s.Safepoints != 1 || s.SafepointTotal != 500*time.Millisecond {
		t.Errorf("got %+v", s)
	}
	f = parse(t, []byte("[1.0s][info][safepoint,stats] G1CollectForAllocation       [ 13 0 ][ 2724 25297 15958781 15986802 ] 0\n"), Handler{})
	if s := f.Stops(); s.Safepoints != 1 || s.SafepointTotal != 15986802 || s.ReachingTotal != 2724 {
		t.Errorf("got %+v", s)
	}
}
