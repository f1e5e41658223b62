package gclog

import (
	"strings"
	"testing"
	"time"
)

// legacyShapes are rarer forms of JDK 5 to 8, as logs published by others have them,
// with figures of their own.
func legacyShapes() []legacyCase {
	return []legacyCase{
		{"CMS, a young collection before the remark, with heaps and free lists", `2015-05-13T13:28:51.504-0400: 12.356: [GC [YG occupancy: 830 K (1310 K)]{Heap before GC invocations=1 (full 1):
 par new generation   total 1310720K, used 830688K [0x0000000640000000, 0x00000006a0000000, 0x00000006a0000000)
  eden space 1048576K,  76% used [0x0000000640000000, 0x000000067140a1f0, 0x0000000680000000)
 Metaspace       used 38929K, capacity 43528K, committed 43796K, reserved 1087488K
2015-05-13T13:28:51.504-0400: 12.357: [GC Before GC:
Statistics for BinaryTreeDictionary:
------------------------------------
Total Free Space: 469745664
 free=469745664 frag=0.0000
12.357: [ParNew
Desired survivor size 134217728 bytes, new threshold 1 (max 1)
- age   1:   19742112 bytes,   19742112 total
: 830K->25K(1310K), 0.1200000 secs] 830K->36K(4980K)After GC:
Statistics for IndexedFreeLists:
--------------------------------
 free=468348985 frag=0.0010
, 0.1300000 secs] [Times: user=0.45 sys=0.02, real=0.12 secs]
Heap after GC invocations=2 (full 1):
 par new generation   total 1310720K, used 25255K [0x0000000640000000, 0x00000006a0000000, 0x00000006a0000000)
}
12.487: [Rescan (parallel) , 0.0173509 secs]12.505: [weak refs processing, 0.0018299 secs][1 CMS-remark: 10K(3670K)] 36K(4980K), 0.1780000 secs] [Times: user=0.58 sys=0.02, real=0.17 secs]
13.000: [GC 13.000: [ParNew: 100K->10K(1310K), 0.0100000 secs] 136K->46K(4980K), 0.0110000 secs] [Times: user=0.02 sys=0.00, real=0.01 secs]
`, []string{
			"remark||178ms|@12.356s|580ms 20ms 170ms",
			"young||11ms|@13s|136K>46K/4980K|20ms 0s 10ms",
		}, 0},
		{"ParNew, a failed promotion with the size for each thread", `2014-03-12T21:18:24.641-0500: 13294.249: Total time for which application threads were stopped: 0.0047170 seconds
{Heap before GC invocations=1470 (full 99):
 par new generation   total 6932288K, used 6906246K [0x00007fc05c000000, 0x00007fc21c000000, 0x00007fc21c000000)
2014-03-12T21:18:26.029-0500: 13295.637: [GC2014-03-12T21:18:26.029-0500: 13295.637: [ParNew (0: promotion failure size = 11863)  (1: promotion failure size = 11883)  (promotion failed)
Desired survivor size 208764928 bytes, new threshold 15 (max 15)
- age   1:  187860912 bytes,  187860912 total
: 6906K->6819K(6932K), 2.7300000 secs]2014-03-12T21:18:28.759-0500: 13298.367: [CMS2014-03-12T21:18:31.372-0500: 13300.980: [CMS-concurrent-sweep: 16.244/20.725 secs] [Times: user=100.59 sys=4.74, real=20.72 secs]
 (concurrent mode failure): 23591K->23342K(25165K), 127.2100000 secs] 30431K->23342K(32098K), [CMS Perm : 137329K->97298K(262912K)], 129.9400000 secs] [Times: user=131.28 sys=0.07, real=129.93 secs]
Heap after GC invocations=1471 (full 100):
 par new generation   total 6932288K, used 0K [0x00007fc05c000000, 0x00007fc21c000000, 0x00007fc21c000000)
}
2014-03-12T21:20:35.976-0500: 13425.584: Total time for which application threads were stopped: 129.9500000 seconds
`, []string{"full||2m9.94s|@3h41m35.637s|30431K>23342K/32098K|2m11.28s 70ms 2m9.93s"}, 2},
		{"iCMS of JDK 5", `0.000: [GC [1 CMS-initial-mark: 0K(12288K)] 281K(16320K), 0.0053000 secs]
0.006: [CMS-concurrent-mark-start]
0.057: [CMS-concurrent-mark: 0.051/0.051 secs]
0.058: [GC[YG occupancy: 282 K (4032 K)]0.058: [Rescan (non-parallel) 0.059: [grey object rescan, 0.0098201 secs]0.068: [root rescan, 0.0075271 secs], 0.0176398 secs]0.076: [weak refs processing, 0.0000951 secs] [1 CMS-remark: 0K(12288K)] 282K(16320K), 0.0178000 secs]
0.922: [GC 0.922: [DefNew: 3967K->0K(4032K), 0.0554915 secs] 7623K->7620K(16320K) icms_dc=65 , 0.0557000 secs]
`, []string{"initial-mark||5.3ms|@0s", "remark||17.8ms|@58ms", "young||55.7ms|@922ms|7623K>7620K/16320K"}, 0},
		{"CMS with adaptive sizes", `0.202: [GC 0.202: [ASParNew: 52480K->6524K(59008K), 0.0358874 secs] 52480K->50393K(517760K), 0.0359000 secs] [Times: user=0.02 sys=0.14, real=0.04 secs]
0.273: [GC [1 ASCMS-initial-mark: 43869K(458752K)] 74053K(517760K), 0.0003000 secs] [Times: user=0.00 sys=0.00, real=0.00 secs]
0.274: [ASCMS-concurrent-mark-start]
0.354: [ASCMS-concurrent-mark: 0.009/0.081 secs] [Times: user=9.00 sys=9.00, real=9.00 secs]
0.528: [GC[YG occupancy: 30716 K (59008 K)]0.528: [Rescan (parallel) , 0.0006399 secs]0.529: [weak refs processing, 0.0000164 secs] [1 ASCMS-remark: 186553K(458752K)] 217270K(517760K), 0.0011000 secs] [Times: user=0.00 sys=0.00, real=0.00 secs]
1.687: [GC 1.687: [ASParNew1.713: [ASCMS-concurrent-abortable-preclean: 0.036/0.592 secs] [Times: user=8.00 sys=8.00, real=8.00 secs]
: 52719K->6513K(59008K), 0.0275897 secs] 392378K->379952K(517760K) icms_dc=75 , 0.0276000 secs] [Times: user=0.03 sys=0.03, real=0.03 secs]
2.684: [GC 2.685: [ASParNew: 58986K->58986K(59008K), 0.0000209 secs]2.685: [ASCMS2.685: [ASCMS-concurrent-abortable-preclean: 0.034/0.477 secs] [Times: user=0.67 sys=0.02, real=0.48 secs]
 (concurrent mode failure): 412627K->31292K(458752K), 0.0264423 secs] 471613K->31292K(517760K), [CMS Perm : 2613K->2613K(65536K)] icms_dc=100 , 0.0266000 secs] [Times: user=0.02 sys=0.00, real=0.03 secs]
3.000: [GC 3.000: [ASParNew: 58986K->58986K(59008K), 0.0000209 secs]3.001: [ASCMS: 412627K->31292K(458752K), 0.0264423 secs] 471613K->31292K(517760K), [CMS Perm : 2613K->2613K(65536K)] icms_dc=100 , 0.0300000 secs] [Times: user=0.03 sys=0.00, real=0.03 secs]
`, []string{
			"young||35.9ms|@202ms|52480K>50393K/517760K|20ms 140ms 40ms",
			"initial-mark||300µs|@273ms|0s 0s 0s",
			"remark||1.1ms|@528ms|0s 0s 0s",
			"young||27.6ms|@1.687s|392378K>379952K/517760K|30ms 30ms 30ms",
			"full||26.6ms|@2.684s|471613K>31292K/517760K|20ms 0s 30ms",
			"full||30ms|@3s|471613K>31292K/517760K|30ms 0s 30ms",
		}, 0},
		{"ParNew before Serial, no stamps", `[GC (Allocation Failure) [ParNew (promotion failed): 2719K->2719K(3072K), 0.0004459 secs][Tenured: 6323K->4991K(6848K), 0.0020673 secs] 6378K->4991K(9920K), [Metaspace: 3311K->3311K(1056768K)], 0.0025000 secs] [Times: user=0.00 sys=0.00, real=0.00 secs]
[Full GC (Allocation Failure) [Tenured: 4991K->4715K(6848K), 0.0023550 secs] 4991K->4715K(9920K), [Metaspace: 3311K->3311K(1056768K)], 0.0023000 secs] [Times: user=0.00 sys=0.00, real=0.00 secs]
`, []string{"full|Allocation Failure|2.5ms|6378K>4991K/9920K|0s 0s 0s", "full|Allocation Failure|2.3ms|4991K>4715K/9920K|0s 0s 0s"}, 0},
		{"CMS, the concurrent thread inside one line", `2012-04-04T19:08:23.054+0000: 511001.548: [Full GC 511001.549: [CMS2012-04-04T19:08:48.906+0000: 511027.400: [CMS-concurrent-preclean: 51.957/52.341 secs] [Times: user=76.72 sys=0.15, real=52.34 secs] (concurrent mode failure): 18431K->16174K(18432K), 106.0700000 secs] 29491K->16174K(29491K), [CMS Perm : 69005K->69005K(115372K)], 106.0800000 secs] [Times: user=106.01 sys=0.00, real=106.06 secs]
`, []string{"full||1m46.08s|@141h56m41.548s|29491K>16174K/29491K|1m46.01s 0s 1m46.06s"}, 0},
		{"G1, a stamp of the concurrent thread in the line", `0.230: [GC pause (young)0.235:  (initial-mark), 0.00430000 secs]
[GC concurrent-mark-start]
   [Parallel Time:   4.1 ms]
      [GC Worker Start Time (ms):  230.4  230.4  230.5  230.5]
      [Update RS (ms):  0.0  0.0  0.1  0.0
       Avg:   0.0, Min:   0.0, Max:   0.1]
         [Processed Buffers : 1 1 1 1
          Sum: 4, Avg: 1, Min: 1, Max: 1]
   [ 53M->53M(103M)]
 [Times: user=0.00 sys=0.00, real=0.01 secs]
2012-02-24T12:30:36.754-0800: 31600.056: [GC pause (young) (initial-mark), 0.08890000 secs]
   [Parallel Time:  59.2 ms]
      [Ref Proc:  17.7 ms]
2012-02-24T12:30:36.844-0800: 31600.161:    [Eden: 995M(995M)->0B(939M) Survivors: 29M->85M Heap: 29672M(31744M)->28733M(31744M)]
[GC concurrent-mark-start]
 [Times: user=0.36 sys=0.01, real=0.10 secs]
`, []string{
			"concurrent-start||4.3ms|@230ms|54272K>54272K/105472K|0s 0s 10ms",
			"concurrent-start||88.9ms|@8h46m40.056s|30384128K>29422592K/32505856K|360ms 10ms 100ms",
		}, 0},
		{"Parallel, adaptive sizes in several lines, decimal commas", `2015-03-04T09:13:53.189+0100: 55041,359: Total time for which application threads were stopped: 0,0000970 seconds
2015-03-04T09:13:59.445+0100: 55047,616: [GC (Allocation Failure)AdaptiveSizePolicy::compute_survivor_space_size_and_thresh:  survived: 1246904  promoted: 139280  overflow: falseAdaptiveSizeStart: 55047,624 collection: 21
  avg_survived_padded_avg: 75561280,000000  avg_promoted_padded_avg: 10916049,000000  tenuring_thresh: 1  target_size: 76021760
Desired survivor size 76021760 bytes, new threshold 1 (max 15)
PSAdaptiveSizePolicy::compute_generation_free_space: costs minor_time: 0,000128 major_cost: 0,000000 mutator_cost: 0,999872
AdaptiveSizePolicy::survivor space sizes: collection: 21 (79691776, 83886080) -> (79691776, 76021760)
AdaptiveSizeStop: collection: 21
 [PSYoungGen: 540800K->1217K(617472K)] 592910K->53464K(2015744K), 0,0082000 secs] [Times: user=0,02 sys=0,00, real=0,01 secs]
2015-03-04T09:13:59.454+0100: 55047,624: Total time for which application threads were stopped: 0,0091380 seconds
`, []string{"young|Allocation Failure|8.2ms|@15h17m27.616s|592910K>53464K/2015744K|20ms 0s 10ms"}, 2},
		{"G1, System.gc() with ages, and both marks before the duration", `2661.447: [GC pause (System.gc()) (young) (initial-mark)
Desired survivor size 826277888 bytes, new threshold 15 (max 15)
- age   1:    3836312 bytes,    3836312 total
, 0.2124000 secs]
   [Parallel Time: 150.8 ms, GC Workers: 8]
      [Humongous Register: 0.1 ms]
   [Eden: 8944.0M(12.1G)->0.0B(12.1G) Survivors: 144.0M->376.0M Heap: 22.5G(30.0G)->14.5G(30.0G)]
 [Times: user=1.13 sys=0.10, real=0.21 secs]
2670.000: [GC pause (young) (initial-mark) (to-space exhausted), 0.1156000 secs]
   [Eden: 1024.0K(255.0M)->0.0B(256.0M) Survivors: 1024.0K->0.0B Heap: 4964.0M(5120.0M)->4964.0M(5120.0M)]
 [Times: user=0.22 sys=0.00, real=0.12 secs]
2671.000: [GC pause (young) (to-space exhausted) (initial-mark), 0.1000000 secs]
 [Times: user=0.22 sys=0.00, real=0.10 secs]
`, []string{
			"concurrent-start|System.gc()|212.4ms|@44m21.447s|23592960K>15204352K/31457280K|1.13s 100ms 210ms",
			"evacuation-failure||115.6ms|@44m30s|5083136K>5083136K/5242880K|220ms 0s 120ms",
			"evacuation-failure||100ms|@44m31s|220ms 0s 100ms",
		}, 0},
		{"a blank before the colon, and what an application prints between", `2012-11-15T16:57:12.524+0800: 8.490 : [GC 8.490: [ParNew: 118016K->11244K(118016K), 0.0525525 secs] 183413K->83007K(511232K), 0.0527000 secs] [Times: user=0.08 sys=0.00, real=0.05 secs]
12.743
list size=10000
9.000: [GC (Allocation Failure) 9.000: [ParNew: 960K->64K(960K), 0.0019529 secs] 4292K->4290K(10485K), 0.0019000 secs] [Times: user=0.00 sys=0.00, real=0.00 secs]
`, []string{
			"young||52.7ms|@8.49s|183413K>83007K/511232K|80ms 0s 50ms",
			"young|Allocation Failure|1.9ms|@9s|4292K>4290K/10485K|0s 0s 0s",
		}, 0},
	}
}

func TestLegacyShapes(t *testing.T) {
	for _, c := range legacyShapes() {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			f := parse(t, []byte(c.log), Handler{Pause: func(p *Pause) { got = append(got, short(p)) }})
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			if f.Safepoints != c.stops || f.JVMs != 1 || f.Damaged != 0 {
				t.Errorf("%d safepoints, want %d; %d JVMs; %d damaged", f.Safepoints, c.stops, f.JVMs, f.Damaged)
			}
		})
	}
}

// allLegacy are all logs in the format up to JDK 8.
func allLegacy() []legacyCase { return append(legacyCases(), legacyShapes()...) }

// TestLegacyInterleaved lets a concurrent thread print into a pause, at each byte: it
// writes without a lock, and its processor times are no pause's. Only the duration
// stays whole, which HotSpot prints in one piece.
func TestLegacyInterleaved(t *testing.T) {
	const duration = ", 0.0106548 secs]"
	const cms = "10.200: [GC (Allocation Failure) 10.200: [ParNew: 86K->10K(97K), 0.0088699 secs] 86K->80K(316K)" + duration +
		" [Times: user=0.02 sys=0.00, real=0.01 secs]\n"
	const g1 = "10.200: [GC pause (G1 Evacuation Pause) (young)" + duration + "\n" +
		"   [Eden: 14.0M(14.0M)->0.0B(20.0M) Survivors: 0.0B->2.0M Heap: 14.0M(128.0M)->2.0M(128.0M)]\n [Times: user=0.02 sys=0.00, real=0.01 secs]\n"
	for name, c := range map[string]struct{ log, into string }{
		"CMS, an end":   {cms, "10.210: [CMS-concurrent-mark: 0.090/0.100 secs] [Times: user=7.00 sys=6.00, real=5.00 secs] \n"},
		"CMS, a start":  {cms, "10.210: [CMS-concurrent-sweep-start]\n"},
		"G1, an end":    {g1, "10.210: [GC concurrent-mark-end, 0.0700000 secs]\n"},
		"G1, with date": {g1, "2012-02-24T03:50:08.554-0800: 10.210: [GC concurrent-mark-start]\n"},
	} {
		whole := strings.Index(c.log, duration)
		for at := strings.Index(c.log, "[GC") + len("[GC"); at < strings.LastIndex(c.log, "secs]\n"); at++ {
			if at > whole && at < whole+len(duration) {
				continue
			}
			var got []Pause
			parse(t, []byte(c.log[:at]+c.into+c.log[at:]), Handler{Pause: func(p *Pause) { got = append(got, *p) }})
			if len(got) != 1 || got[0].Duration != 10654800 || got[0].Kind != KindYoung || got[0].CPU.User > time.Second {
				t.Errorf("%s after %q: %+v", name, c.log[:at], got)
			}
		}
	}
}
