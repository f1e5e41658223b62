package web_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"stallmark/web/gallery"
)

func TestLogLinesAndFilters(t *testing.T) {
	s := show(t, scene(t, "logs"))
	for _, c := range []struct {
		query string
		lines int
		says  string
	}{
		{"", 40, "140 lines that a pattern knows"},
		{"?pattern=rocketmq-put-in-lock", 20, "What it is not: Not the flush"},
		{"?source=/home/rmq/logs/rocketmqlogs/broker.log", 40, "120 lines"},
		{"?proof=direct&process=rocketmq-broker&product=rocketmq", 40, "page 1 of 2"},
		{"?proof=hint", 0, "No line of this window passes the filter; 60 lines are without it"},
		{"?q=ALLOCATEMAPPEDFILE", 20, "created 00000000040802189312"}, // a line around it
		{"?page=2", 20, "page 2 of 2"},
		{"?page=99", 20, "page 2 of 2"},
		{"?pattern=rocketmq-pagecachert", 0, "A histogram, once a minute."},
	} {
		doc := s.page(t, "/logs"+c.query)
		got := text(find(doc, "log-lines")...)
		if n := len(find(doc, "log-head")); n != c.lines {
			t.Errorf("%q: %d lines, want %d", c.query, n, c.lines)
		}
		if !strings.Contains(text(doc), c.says) {
			t.Errorf("%q does not say %q: %.300s", c.query, c.says, got)
		}
	}
	doc := s.page(t, "/logs?proof=direct&range=1h")
	kept := 0
	for n := range doc.Descendants() {
		if attr(n, "data-key") == "3" && strings.Contains(attr(n, "href"), "range=6h") && strings.Contains(attr(n, "href"), "proof=direct") {
			kept++
		}
	}
	if kept != 1 {
		t.Error("the links through time forget the filter")
	}
	first := text(find(doc, "log-lines")[0].FirstChild)
	for _, want := range []string{"03:14:26 – 03:14:28 ± 1 s", "An append held the lock", "2026-03-01T03:14:26.", "the zone +08:00: the line holds an instant (storeTimestamp)", "took 1.46 s", "FlushRealTimeService", "topic orders"} {
		if !strings.Contains(first, want) {
			t.Errorf("a line does not say %q: %s", want, first)
		}
	}
}

func TestUnknownWarningsAreRanked(t *testing.T) {
	got := text(find(show(t, scene(t, "logs")).page(t, "/logs"), "unknown-lines")...)
	if !strings.HasPrefix(got, "1,841 warn # WARN NettyServerCodecThread_#") || !strings.Contains(got, "12 error") {
		t.Errorf("unknown warnings are %s", got)
	}
}

func TestNoLogIsFollowed(t *testing.T) {
	got := text(show(t, scene(t, "logs-none")).page(t, "/logs"))
	for _, want := range []string{"No line that a pattern knows", "looked for *.log in /home/rmq/logs/rocketmqlogs", "name the files with --log", "--log /srv/app/*.log"} {
		if !strings.Contains(got, want) {
			t.Errorf("does not say %q: %s", want, got)
		}
	}
}

func TestManyLinesAreAPage(t *testing.T) {
	s := show(t, scene(t, "logs-many"))
	if n := s.get(t, "/logs").Body.Len(); n > 250_000 {
		t.Errorf("the page of 5,000 lines is %d bytes", n)
	}
	var data struct {
		Kept, Matched, Pages int
		Lines                []struct {
			Before []string
			Count  int
		}
	}
	if err := json.Unmarshal(s.get(t, "/api/v1/logs").Body.Bytes(), &data); err != nil {
		t.Fatal(err)
	}
	if data.Kept != 5000 || data.Pages != 5 || len(data.Lines) != 1000 || data.Matched <= data.Kept {
		t.Errorf("the JSON has %+v", data)
	}
}

func TestWrongFilters(t *testing.T) {
	s := show(t, gallery.Calm())
	for _, q := range []string{"page=0", "page=x", "page=1e9", "q=" + strings.Repeat("a", 700)} {
		for _, path := range []string{"/logs?", "/api/v1/logs?"} {
			if w := s.get(t, path+q); w.Code != http.StatusBadRequest {
				t.Errorf("%s%.20s: status %d", path, q, w.Code)
			}
		}
	}
}

func TestLogsAndPausesAreMarked(t *testing.T) {
	doc := show(t, scene(t, "jvm")).page(t, "/")
	rows := map[string]int{}
	for _, lane := range find(doc, "told") {
		if names := find(lane, "name"); len(names) == 1 {
			rows[text(names...)] = len(find(lane, "pause")) + len(find(lane, "tick"))
		}
	}
	if rows["GC pauses"] < 20 || rows["log lines"] < 10 {
		t.Errorf("rows of what is told: %v", rows)
	}
	if got := text(find(doc, "lanes")...); !strings.Contains(got, "rocketmq-put-in-lock") || !strings.Contains(strings.ReplaceAll(got, "\u00a0", " "), "young 2.15 s, blocked") {
		t.Errorf("marks say %s", got)
	}
	chart := find(doc, "chart")[0]
	if len(find(chart, "logs")) != 1 || len(find(chart, "pauses")) != 1 {
		t.Error("the first chart has no log lines or pauses")
	}
}

func TestLinesOfAFinding(t *testing.T) {
	s := show(t, scene(t, "logs"))
	for _, path := range []string{"/findings/f-dirty", "/incidents/f-dirty"} {
		doc := s.page(t, path)
		got := text(find(doc, "log-lines")...)
		for _, want := range []string{"An append held the lock", "FlushRealTimeService - Flush data", "AllocateMappedFileService", "the zone +08:00"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s does not show %q: %.300s", path, want, got)
			}
		}
		if n := len(find(doc, "log-head")); n != 8 {
			t.Errorf("%s shows %d lines", path, n)
		}
	}
}

func TestPauses(t *testing.T) {
	s := show(t, scene(t, "jvm"))
	doc := s.page(t, "/jvm")
	got := text(find(doc, "pauses")...)
	for _, want := range []string{"young 2.17 s blocked 110 ms 40 ms 2.17 s 400 us 6.1 GiB → 2.2 GiB of 8 GiB G1 Evacuation Pause", "full 930 ms sys-heavy", "safepoint"} {
		if !strings.Contains(strings.ReplaceAll(strings.ReplaceAll(got, "\u00a0", " "), "µs", "us"), want) {
			t.Errorf("the pauses do not say %q: %s", want, got)
		}
	}
	if n := len(find(doc, "chart")); n != 7 {
		t.Errorf("%d charts of a JVM, want 7", n)
	}
	if all := text(doc); !strings.Contains(all, "34 pauses of 10 ms or more") || !strings.Contains(all, "-Xlog:gc*,safepoint") {
		t.Errorf("the page says %.400s", all)
	}
	if !strings.Contains(s.get(t, "/api/v1/jvm").Body.String(), `"reaching_ms": 380`) {
		t.Error("the JSON has no time to safepoint")
	}
	if !strings.Contains(text(show(t, gallery.Calm()).page(t, "/jvm")), "No JVM is watched") {
		t.Error("nothing is said where no JVM is watched")
	}
}
