package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stallmark/storage/model"
	"stallmark/web"
)

// put writes a file for a test.
func put(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// triaged diagnoses texts and returns the report.
func triaged(t *testing.T, wantCode int, paths ...string) model.Report {
	t.Helper()
	got := runProgram(t, append([]string{"diagnose", "--json"}, paths...)...)
	if got.code != wantCode {
		t.Fatalf("code %d, want %d: %s", got.code, wantCode, got.stderr)
	}
	var r model.Report
	if err := json.Unmarshal([]byte(got.stdout), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// vmstatText is vmstat's output with rows of the given swap-in, in KiB/s.
func vmstatText(rows int, swapIn int) string {
	var b strings.Builder
	b.WriteString("$ vmstat 1\nprocs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n" +
		" r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n")
	for range rows {
		fmt.Fprintf(&b, " 1  4 900000  80000   1000  90000 %d 300 %d 100 3000 4000 5 20 5 70 0\n", swapIn, swapIn)
	}
	return b.String()
}

// TestTextSaysWhatItCan pastes a host that swaps in, and reads a verdict that
// is bounded by what vmstat can tell.
func TestTextSaysWhatItCan(t *testing.T) {
	r := triaged(t, exitFound, put(t, "x.txt", vmstatText(40, 20000)))
	if len(r.Findings) != 1 || r.Findings[0].Signature != "swap-in-stall" || r.Findings[0].Confidence != model.Possible || r.Findings[0].Caveat != fromTools {
		t.Errorf("findings %+v", r.Findings)
	}
	if len(r.Excerpts) < 1 || r.Excerpts[0].Format != "vmstat" || r.Excerpts[0].From != 2 || r.Excerpts[0].To != 43 {
		t.Errorf("excerpts %+v", r.Excerpts)
	}
	if len(r.Decide) != 3 || !strings.Contains(r.Decide[1], "/proc/vmstat") || !strings.Contains(r.Decide[0], "# decides swap-in-stall") {
		t.Errorf("to decide it: %q", r.Decide)
	}
}

// TestQuietTextIsNoProof pastes a calm host: what vmstat does not show is
// unknown and not ruled out.
func TestQuietTextIsNoProof(t *testing.T) {
	r := triaged(t, exitUnknown, put(t, "x.txt", vmstatText(40, 0)))
	if len(r.Findings) != 0 {
		t.Errorf("findings %+v", r.Findings)
	}
	unknown := map[string]bool{}
	for _, u := range r.Unknown {
		unknown[u.Signature] = true
	}
	for _, id := range []string{"dirty-throttling", "direct-reclaim", "disk-saturation"} {
		if !unknown[id] {
			t.Errorf("%s is not unknown", id)
		}
	}
	if unknown["swap-in-stall"] {
		t.Error("swap-in-stall is unknown though vmstat shows swapping")
	}
}

// TestOneReadingSaysNothing pastes the mean since boot only.
func TestOneReadingSaysNothing(t *testing.T) {
	r := triaged(t, exitUnknown, put(t, "x.txt", vmstatText(1, 20000)))
	if len(r.Findings) != 0 || len(r.RuledOut) != 0 {
		t.Errorf("findings %+v, ruled out %+v", r.Findings, r.RuledOut)
	}
	if notes := fmt.Sprint(r.Excerpts); !strings.Contains(notes, "mean since boot") {
		t.Errorf("excerpts %s", notes)
	}
}

// TestPastedProcMeetsTheRules writes the loop of a shell over /proc, as
// "What would decide it" asks for it, and gets the kernel's own verdict.
func TestPastedProcMeetsTheRules(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		stalls := max(0, i-10) * 300
		fmt.Fprintf(&b, "2026-12-01T02:00:%02dZ\n", i)
		fmt.Fprintf(&b, "/proc/vmstat:nr_free_pages 1000\n/proc/vmstat:allocstall_normal %d\n/proc/vmstat:pgscan_direct %d\n", stalls, stalls*40)
		fmt.Fprintf(&b, "/proc/pressure/memory:some avg10=0.00 avg60=0.00 avg300=0.00 total=%d\n", stalls*1500)
		fmt.Fprintf(&b, "/proc/pressure/memory:full avg10=0.00 avg60=0.00 avg300=0.00 total=%d\n", stalls*500)
	}
	r := triaged(t, exitFound, put(t, "x.txt", b.String()))
	if len(r.Findings) == 0 || r.Findings[0].Signature != "direct-reclaim" || r.Findings[0].Confidence != model.Likely {
		t.Fatalf("findings %+v", r.Findings)
	}
	if at := r.Findings[0].Started.Second(); at < 10 || at > 12 {
		t.Errorf("started at second %d", at)
	}
}

// TestTextsAndRecordingsTogether gives a recording, a text and something that
// is neither.
func TestTextsAndRecordingsTogether(t *testing.T) {
	text := put(t, "x.txt", vmstatText(40, 20000))
	got := runProgram(t, "diagnose", "--json", capturePath("m_idle"), text)
	var list []model.Report
	if err := json.Unmarshal([]byte(got.stdout), &list); err != nil || len(list) != 2 || got.code != exitFound {
		t.Fatalf("code %d, %d reports, %v: %s", got.code, len(list), err, got.stderr)
	}
	if got := runProgram(t, "diagnose", put(t, "y.txt", "some prose\n")); got.code != exitUsage || !strings.Contains(got.stderr, "nothing in it is known") {
		t.Errorf("code %d: %s", got.code, got.stderr)
	}
}

// vmstatCopies writes copies of /proc/vmstat a second apart: 4000 pages dirty of a
// background limit and a limit, and others dirtied and written.
func vmstatCopies(seconds, background, limit int, after string) string {
	var b strings.Builder
	for i := range seconds {
		fmt.Fprintf(&b, "2026-12-01T02:00:%02dZ\n", i)
		for name, v := range map[string]int{
			"nr_free_pages": 100000, "nr_dirty": 4000, "nr_writeback": 0, "nr_dirtied": 3000 * i, "nr_written": 3000 * i,
			"nr_dirty_threshold": limit, "nr_dirty_background_threshold": background,
		} {
			fmt.Fprintf(&b, "/proc/vmstat:%s %d\n", name, v)
		}
		b.WriteString(after)
	}
	return b.String()
}

// psListing is a listing of ps with writers paused at the limit.
func psListing(threads int) string {
	var b strings.Builder
	b.WriteString("$ ps -eLo pid,stat,wchan:32,comm\n    PID STAT WCHAN                            COMMAND\n")
	for i := range threads {
		fmt.Fprintf(&b, "%7d D    balance_dirty_pages              java\n", 1000+i)
	}
	return b.String()
}

// confidences are those of all findings, by signature.
func confidences(r model.Report) map[string]model.Confidence {
	m := map[string]model.Confidence{}
	for _, f := range r.Findings {
		m[f.Signature] = f.Confidence
	}
	return m
}

// TestOneListingIsOneSighting pastes copies of /proc/vmstat far from the limit and a
// listing of ps with many paused writers: one moment, which no rule takes for
// several.
func TestOneListingIsOneSighting(t *testing.T) {
	calm := vmstatCopies(30, 50000, 100000, "")
	at, rest, _ := strings.Cut(calm, "2026-12-01T02:00:20Z\n")
	text := at + "2026-12-01T02:00:19Z\n" + psListing(40) + "2026-12-01T02:00:20Z\n" + rest
	r := triaged(t, exitUnknown, put(t, "x.txt", text))
	if len(r.Findings) != 0 {
		t.Errorf("findings %v", confidences(r))
	}
	if u := slices.IndexFunc(r.Unknown, func(u model.Unknown) bool { return u.Signature == "dirty-throttling" }); u < 0 || !strings.HasPrefix(r.Unknown[u].Why, seenOnce) {
		t.Errorf("unknown %+v, ruled out %+v", r.Unknown, r.RuledOut)
	}
	if !strings.Contains(fmt.Sprint(r.Excerpts), "40 paused at the dirty-page limit") {
		t.Errorf("excerpts %+v", r.Excerpts)
	}
	r = triaged(t, exitFound, put(t, "x.txt", vmstatCopies(30, 50000, 100000, psListing(2))))
	if got := confidences(r); got["dirty-throttling"] != model.Likely {
		t.Errorf("findings %v from a listing a second", got)
	}
}

// TestTextsAreNeverConfirmed pastes the strongest texts that there are: copies of
// /proc/vmstat over the limit with a paused thread in each, and the same beside a
// table.
func TestTextsAreNeverConfirmed(t *testing.T) {
	stack := "/proc/71/stack:[<0>] balance_dirty_pages+0x2c1/0xc30\n/proc/71/stack:[<0>] balance_dirty_pages_ratelimited+0x2f5/0x3d0\n"
	copies := vmstatCopies(30, 2000, 4000, stack)
	r := triaged(t, exitFound, put(t, "x.txt", copies))
	if got := confidences(r); got["dirty-throttling"] != model.Likely || r.Findings[0].Caveat != fromCopies {
		t.Errorf("copies: %v, %+v", got, r.Findings)
	}
	r = triaged(t, exitFound, put(t, "x.txt", copies), put(t, "y.txt", vmstatText(40, 20000)))
	for signature, c := range confidences(r) {
		if c != model.Possible {
			t.Errorf("%s is %s beside a table", signature, c)
		}
	}
	reclaim := "[<0>] do_try_to_free_pages+0x100/0x3c0\n[<0>] try_to_free_pages+0xf4/0x1c0\n[<0>] __alloc_pages+0x2c0/0x340\n"
	sar := sarTable("Linux 6.18.44 (vm) \t12/01/26 \t_x86_64_\t(2 CPU)", "12:36:%02d", ".", 40000)
	r = triaged(t, exitFound, put(t, "x.txt", sar+"\n2026-12-01T12:36:18Z\n"+reclaim))
	if got := confidences(r); got["direct-reclaim"] != model.Possible {
		t.Errorf("a table and a stack: %v", got)
	}
}

// TestDecideGoesByWhatIsMissing asks for what the texts lack, and for the logs of
// the product that they are of.
func TestDecideGoesByWhatIsMissing(t *testing.T) {
	const kafka = "[2026-03-01 12:00:00,123] INFO [LocalLog partition=orders-3, dir=/data/kafka] Rolled new log segment at offset 123456 in 4130 ms. (kafka.log.LocalLog)\n"
	rocket := put(t, "store.log", stalledStoreLog())
	gc := put(t, "gc.log", "[2026-03-01T03:30:05.500+0000][gc] GC(12) Pause Young (Normal) (G1 Evacuation Pause) 1000M->200M(4096M) 1212.300ms\n")
	for _, tt := range []struct {
		name       string
		paths      []string
		want, lack []string
	}{
		{"vmstat", []string{put(t, "v.txt", vmstatText(40, 20000))}, []string{"record", "/proc/vmstat", "wchan"}, []string{"rocketmq"}},
		{"copies", []string{put(t, "c.txt", vmstatCopies(30, 2000, 4000, ""))}, []string{"record", "/proc/diskstats", "wchan"}, []string{"/proc/vmstat"}},
		{"RocketMQ", []string{rocket}, []string{"record", "/proc/vmstat", "/dev/shm/rmq_srv_gc_*.log", "rocketmqlogs/broker.log"}, []string{"rocketmqlogs/store.log"}},
		{"RocketMQ with a GC log", []string{rocket, gc}, []string{"record", "/proc/vmstat"}, []string{"rmq_srv_gc"}},
		{"Kafka", []string{put(t, "server.log", strings.Repeat(kafka, 5))}, []string{"kafkaServer-gc.log"}, []string{"rmq_srv_gc", "/server.log"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := runProgram(t, append([]string{"diagnose", "--json"}, tt.paths...)...)
			var r model.Report
			if err := json.Unmarshal([]byte(got.stdout), &r); err != nil {
				t.Fatal(err, got.stderr)
			}
			all := strings.Join(r.Decide, "\n")
			if len(r.Decide) > 3 || strings.Count(all, "# decides ") != len(r.Decide) {
				t.Errorf("%s", all)
			}
			for _, want := range tt.want {
				if !strings.Contains(all, want) {
					t.Errorf("%q is not in\n%s", want, all)
				}
			}
			for _, lack := range tt.lack {
				if strings.Contains(all, lack) {
					t.Errorf("%q is in\n%s", lack, all)
				}
			}
		})
	}
}

// TestUndatedTextIsNotNow gives copies without times: the report and the page say
// that nobody knows when, not that it stalls now.
func TestUndatedTextIsNotNow(t *testing.T) {
	const post = "testdata/posts/vmstat-file-untimed.txt"
	got := runProgram(t, "diagnose", post)
	for _, want := range []string{"STALLED: Allocating threads", "at an unknown time, critical"} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("want %q in\n%.400s", want, got.stdout)
		}
	}
	data, err := os.ReadFile(post)
	if err != nil {
		t.Fatal(err)
	}
	s, err := triaging(t).triageUploads(t.Context(), []web.Upload{{Name: "post.txt", Data: data}})
	if err != nil {
		t.Fatal(err)
	}
	h, err := web.ShowSnapshot(s, web.Sight{Base: "/triage/1", Texts: true, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	f := s.Report.Findings[0]
	for _, path := range []string{"", "/incidents", "/incidents/" + f.ID, "/findings/" + f.ID} {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest("GET", "/triage/1"+path, nil))
		if body := rec.Body.String(); rec.Code != 200 || !strings.Contains(body, "at an unknown time") || strings.Contains(body, "since <time") {
			t.Errorf("%s: status %d, want the time to be unknown", path, rec.Code)
		}
	}
	if r := triaged(t, exitFound, "testdata/posts/vmstat-store.txt"); r.Findings[0].Undated {
		t.Error("a text with a time is said to have none")
	}
}

// TestBinaryIsSaid gives a text that stops being one: what was read before counts,
// and where it ends is said.
func TestBinaryIsSaid(t *testing.T) {
	data, err := os.ReadFile("testdata/posts/vmstat-file-untimed.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Count(string(data), "\n")
	r := triaged(t, exitFound, put(t, "cut.txt", string(data)+"ab\x00\x01\x02"))
	want := fmt.Sprintf("from line %d, byte %d on it is not text (a NUL byte)", lines+1, len(data)+3)
	if got := fmt.Sprint(r.Excerpts); !strings.Contains(got, want) || len(r.Findings) == 0 {
		t.Errorf("%d findings, want %q in %s", len(r.Findings), want, got)
	}
}
