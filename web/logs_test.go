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
