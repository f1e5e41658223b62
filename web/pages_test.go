package web_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		scene, kind string
		says        []string
		never       []string
	}{
		{"stalling", "stalling", []string{
			"Stalling Writers are paused at the dirty-page limit since 03:12:41 · 2 min 08 s confirmed",
			"cause dirty-throttling", "mechanism Appends wait inside the kernel", "symptom The broker refuses sends: busy 853 (threshold 1)",
			"Witness: SendMessageThread_1 in balance_dirty_pages", "Do now: Fit both dirty limits to this disk",
			"sysctl -w vm.dirty_bytes=2147483648", "Now: background 2.75 GiB, limit 5.5 GiB", "sysctl -w vm.dirty_ratio=50 vm.dirty_background_ratio=50",
			"/etc/sysctl.d/90-stallmark.conf", "Takes effect at once", "falls to 0 within 10 s", "2 other remedies",
			"Ruled out direct-reclaim 0 pages/s scanned", "fsync-stall unknown : thread stacks may not be read",
		}, []string{"No known stall", "undefined"}},
		{"likely", "stalling", []string{"likely", "2 of 2 measured confirmations hold, no direct witness seen"}, []string{"confirmed"}},
		{"possible", "stalling", []string{"possible", "the condition alone: no confirmation could be measured"}, []string{"Do now", "likely"}},
		{"resolved", "stalled", []string{"Was stalling", "03:04:51 – 03:07:41 · 2 min 50 s", "Before the next one: Let kswapd"}, []string{"since", "Do now"}},
		{"ending", "stalled", []string{"Was stalling Writers are paused", "03:12:41 – 03:14:42 · 2 min 01 s · watching whether it returns"}, []string{"since", "Do now"}},
		{"young", "stalling", []string{"Set 4 s before it began: vm.watermark_scale_factor 200 → 10"}, nil},
		{"warning", "warning", []string{"Firing The same pages are written again and again"}, []string{"Stalling"}},
		{"calm", "calm", []string{"Calm No known stall 10 signatures were checked, none fired.", "dirty-throttling dirty pages reached 52 %"}, []string{"unknown"}},
		{"calm-unknown", "calm", []string{"1 could not be judged", "fsync-stall unknown"}, nil},
		{"unknown", "unsure", []string{"Not sure Nothing found, but 5 possible causes could not be checked", "booted with psi=0"}, []string{"Calm"}},
		{"no-data", "blind", []string{"No data Nothing was recorded in this window"}, []string{"Calm", "No known stall"}},
		{"denied", "calm", nil, nil},
		{"store-down", "calm", nil, nil},
		{"two-incidents", "stalling", []string{"Writers are paused"}, nil},
	} {
		t.Run(c.scene, func(t *testing.T) {
			doc := show(t, scene(t, c.scene)).page(t, "/")
			banner := find(doc, "verdict")
			if len(banner) != 1 || !hasClass(banner[0], c.kind) {
				t.Fatalf("want one verdict of kind %s, got %v", c.kind, banner)
			}
			got := text(banner...)
			for _, want := range c.says {
				if !strings.Contains(got, want) {
					t.Errorf("does not say %q:\n%s", want, got)
				}
			}
			for _, bad := range c.never {
				if strings.Contains(got, bad) {
					t.Errorf("says %q:\n%s", bad, got)
				}
			}
		})
	}
}

func TestOverviewShowsWhatElseFired(t *testing.T) {
	doc := show(t, scene(t, "two-incidents")).page(t, "/")
	if got := text(find(doc, "others")...); !strings.Contains(got, "Threads that allocate must reclaim memory themselves ended, 40 s, likely") {
		t.Errorf("the other incident is missing: %q", got)
	}
}

func TestLanes(t *testing.T) {
	doc := show(t, scene(t, "stalling")).page(t, "/")
	var order []string
	for _, lane := range find(doc, "lane") {
		if names := find(lane, "name"); len(names) == 1 {
			order = append(order, text(names...)+" "+attr(lane, "class"))
		}
	}
	want := []string{"dirty-throttling lane firing", "rocketmq-append-stall lane firing", "rocketmq-broker-busy lane firing", "fsync-stall lane unknown", "direct-reclaim lane quiet"}
	if len(order) != 13 || strings.Join(order[:5], "|") != strings.Join(want, "|") {
		t.Errorf("lanes are %q", order)
	}
	lane := find(doc, "lane")[0]
	if bars, ticks := find(lane, "bar"), find(lane, "tick"); len(bars) != 1 || len(ticks) < 10 {
		t.Errorf("the firing lane has %d bars and %d ticks of blocked threads", len(bars), len(ticks))
	}
	if got := text(find(doc, "axis")...); !strings.Contains(got, "vm.dirty_ratio 20 → 50, vm.dirty_background_ratio 10 → 50") {
		t.Errorf("the changed setting is not marked: %q", got)
	}
}

func TestCoverageNamesReasonAndMend(t *testing.T) {
	for _, path := range []string{"/", "/status"} {
		doc := show(t, scene(t, "denied")).page(t, path)
		got := text(doc)
		for _, want := range []string{"denied", "stacks of other users", "CAP_SYS_PTRACE", "no answer since 03:11:02.120", "boot with psi=1"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s does not say %q", path, want)
			}
		}
	}
}

func TestCliffsWhenCalm(t *testing.T) {
	doc := show(t, scene(t, "calm")).page(t, "/")
	got := text(find(doc, "cliffs")...)
	for _, want := range []string{"Dirty pages, up to where writers are paused 34 % 762 MiB → 2.2 GiB", "Space on the disk of the store /data/rocketmq 73 % 492 GiB → 670 GiB not approaching", "there RocketMQ deletes expired files at any hour"} {
		if !strings.Contains(got, want) {
			t.Errorf("cliffs do not say %q: %s", want, got)
		}
	}
	if n := len(find(show(t, scene(t, "stalling")).page(t, "/"), "cliffs")); n != 0 {
		t.Error("cliffs stand between the verdict and the evidence of a stall")
	}
}

// TestChartsHaveData proves the page's own PromQL on the gallery's series.
func TestChartsHaveData(t *testing.T) {
	for _, path := range []string{"/", "/disks", "/status", "/findings/f-dirty"} {
		doc := show(t, scene(t, "stalling")).page(t, path)
		charts := find(doc, "chart")
		if len(charts) < 3 {
			t.Fatalf("%s has %d charts", path, len(charts))
		}
		for _, c := range charts {
			if len(find(c, "line")) == 0 || len(find(c, "empty")) > 0 {
				t.Errorf("%s: nothing is drawn in %s", path, text(c))
			}
		}
	}
}

func TestEmptyChartSaysWhy(t *testing.T) {
	doc := show(t, scene(t, "unknown")).page(t, "/")
	if got := text(find(doc, "note")...); !strings.Contains(got, "absent: the kernel was booted with psi=0") {
		t.Errorf("empty charts say %q", got)
	}
}

func TestDisksFoldAndCollapse(t *testing.T) {
	doc := show(t, scene(t, "many-disks")).page(t, "/disks")
	tables := find(doc, "disks")
	if len(tables) != 2 {
		t.Fatalf("want the active disks and the folded devices, got %d tables", len(tables))
	}
	first := text(tables[0])
	if !strings.Contains(first, "nvme1n1") || !strings.Contains(first, "store of rocketmq-broker") || strings.Contains(first, "sda") || strings.Contains(first, "dm-0") {
		t.Errorf("the active disks are %s", first)
	}
	if folded := text(tables[1]); !strings.Contains(folded, "dm-0") || !strings.Contains(folded, "on nvme0n1") {
		t.Errorf("the folded devices are %s", folded)
	}
	if all := text(doc); !strings.Contains(all, "1,195 idle devices") {
		t.Error("the idle devices are not counted")
	}
	if n := show(t, scene(t, "many-disks")).get(t, "/disks").Body.Len(); n > 200_000 {
		t.Errorf("the page of 1,200 disks is %d bytes", n)
	}
}

func TestSignaturePages(t *testing.T) {
	s := show(t, scene(t, "stalling"))
	list := text(s.page(t, "/signatures"))
	for _, want := range []string{"firing dirty-throttling", "quiet direct-reclaim", "unknown fsync-stall"} {
		if !strings.Contains(list, want) {
			t.Errorf("the catalogue does not say %q", want)
		}
	}
	one := text(s.page(t, "/signatures/dirty-throttling"))
	for _, want := range []string{"allowance for unwritten", "Threads asleep in balance_dirty_pages witness > 0", "avg_over_time", "direct-reclaim", "rocketmq-broker-busy", "mm/page-writeback.c", "a level held at the ceiling → firing", "Turn on transientStorePoolEnable", "Firing Writers are paused"} {
		if !strings.Contains(one, want) {
			t.Errorf("the signature's page does not say %q", want)
		}
	}
}

// TestEveryLinkLeadsSomewhere walks all links inside the page.
func TestEveryLinkLeadsSomewhere(t *testing.T) {
	for _, name := range []string{"stalling", "hostile"} {
		s := show(t, scene(t, name))
		seen, queue := map[string]bool{"/": true}, []string{"/"}
		for len(queue) > 0 && len(seen) < 400 {
			path := queue[0]
			queue = queue[1:]
			w := s.get(t, path)
			hostilePath := strings.Contains(path, "script") // no signature has such an id
			if w.Code != http.StatusOK && (!hostilePath || w.Code != http.StatusNotFound) {
				t.Errorf("%s: %s: status %d", name, path, w.Code)
			}
			if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
				continue
			}
			doc, err := html.Parse(w.Body)
			if err != nil {
				t.Fatal(err)
			}
			for n := range doc.Descendants() {
				href, _, _ := strings.Cut(attr(n, "href"), "#")
				if strings.HasPrefix(href, "/") && !seen[href] && !timed(href) {
					seen[href] = true
					queue = append(queue, href)
				}
			}
		}
		if len(seen) < 15 {
			t.Errorf("%s: only %d links found", name, len(seen))
		}
	}
}

// timed are links that lead on and on through time.
func timed(href string) bool {
	return strings.Contains(href, "from=") || strings.Contains(href, "range=") || strings.Contains(href, "tz=")
}

func TestJSONTwins(t *testing.T) {
	s := show(t, scene(t, "stalling"))
	for path, want := range map[string]string{
		"/api/v1/report":                      `"ruled_out"`,
		"/api/v1/incidents":                   `"root": "f-dirty"`,
		"/api/v1/incidents/f-append":          `"root": "f-dirty"`,
		"/api/v1/findings":                    `"signature": "dirty-throttling"`,
		"/api/v1/findings/f-dirty":            `"confidence": "confirmed"`,
		"/api/v1/disks":                       `"device": "nvme1n1"`,
		"/api/v1/signatures":                  `"state": "unknown"`,
		"/api/v1/signatures/dirty-throttling": `"for_seconds": 2`,
		"/api/v1/cliffs":                      `"outlook": `,
		"/api/v1/audit":                       `"read_ahead_kb=8192"`,
		"/api/v1/pagecache":                   `"files": []`,
		"/api/v1/logs":                        `"unknown": []`,
		"/api/v1/jvm":                         `"jvms": []`,
		"/api/v1/status":                      `"rules_version"`,
	} {
		w := s.get(t, path)
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" || !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s does not have %s:\n%.600s", path, want, w.Body)
		}
	}
	// The status of a service without a mistake or a bad block.
	status := s.get(t, "/api/v1/status").Body.String()
	for _, want := range []string{`"rule_problems": []`, `"bad_blocks": []`} {
		if !strings.Contains(status, want) {
			t.Errorf("the status does not have %s", want)
		}
	}
	if !regexp.MustCompile(`"started": "[0-9T:-]{19}\.[0-9]{3}Z"`).MatchString(status) {
		t.Error("the status does not say in milliseconds when it was started")
	}
	// Every page names its twin, and the twin answers.
	for _, path := range []string{"/", "/incidents", "/incidents/f-dirty", "/findings", "/findings/f-dirty", "/disks", "/signatures", "/signatures/dirty-throttling", "/audit", "/status", "/pagecache", "/logs", "/jvm"} {
		doc := s.page(t, path+"?range=1h")
		twin := ""
		for n := range doc.Descendants() {
			if n.Data == "link" && attr(n, "rel") == "alternate" {
				twin = attr(n, "href")
			}
		}
		if w := s.get(t, twin); w.Code != http.StatusOK || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s: its twin %q gives %d", path, twin, w.Code)
		}
	}
}

func TestHostileTextStaysText(t *testing.T) {
	s := show(t, scene(t, "hostile"))
	for _, path := range []string{"/", "/incidents", "/incidents/f-dirty", "/findings", "/findings/f-dirty", "/disks", "/signatures", "/signatures/dirty-throttling", "/pagecache", "/logs", "/jvm", "/audit", "/status", "/?tz=local"} {
		doc := s.page(t, path)
		for n := range doc.Descendants() {
			if n.Type == html.TextNode && strings.ContainsAny(n.Data, "\x00\x1b\u202e\u202c") {
				t.Errorf("%s: an invisible character is not made visible: %q", path, n.Data)
			}
			for _, a := range n.Attr {
				if strings.ContainsAny(a.Val, "\x00\x1b\u202e\u202c") {
					t.Errorf("%s: an invisible character in %s: %q", path, a.Key, a.Val)
				}
			}
		}
		if !strings.Contains(text(doc), "<script>alert(1)</script>") && path != "/findings" {
			t.Errorf("%s does not show the hostile text, so this test shows nothing", path)
		}
	}
}
