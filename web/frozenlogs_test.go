package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"stallmark/web"
)

// TestFrozenLogs holds that a snapshot shows the lines with those around them,
// and what their patterns mean, without the live host.
func TestFrozenLogs(t *testing.T) {
	h, err := web.ShowSnapshot(frozenScene(t, "jvm"), web.Sight{Base: "/s/x"})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][]string{
		"/s/x/findings/f-dirty":                  {"An append held the lock", "FlushRealTimeService - Flush data", "AllocateMappedFileService", "the zone +08:00"},
		"/s/x/incidents/f-dirty":                 {"An append held the lock", "FlushRealTimeService - Flush data"},
		"/s/x/logs":                              {"What it is not", "Not the flush", "AllocateMappedFileService"},
		"/s/x/logs?pattern=rocketmq-put-in-lock": {"The append to the mapped commit log took that long", "all lines"},
		"/s/x/jvm":                               {"longest 2.17 s", "blocked", "Time in pauses by kind", "Heap after collection"},
		"/s/x":                                   {"GC pauses", "log lines"},
		"/s/x/logs?pattern=no-such-thing&q=<script>": {"No line of this window passes the filter"},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, strings.ReplaceAll(path, "<script>", "%3Cscript%3E"), nil))
		doc, err := html.Parse(w.Body)
		if err != nil || w.Code != http.StatusOK {
			t.Fatalf("%s: %d %v", path, w.Code, err)
		}
		checkPolicy(t, path, doc)
		got := strings.ReplaceAll(text(doc), "\u00a0", " ")
		for _, one := range want {
			if !strings.Contains(got, one) {
				t.Errorf("%s does not say %q: %.600s", path, one, got)
			}
		}
	}
}
