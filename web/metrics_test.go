package web_test

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// sampleLine and typeLine are the grammar of both forms: a label's value has no
// line break, and no quote or backslash that is not escaped.
var (
	sampleLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\]|\\[\\"n])*",?)+\})? (\S+)$`)
	typeLine   = regexp.MustCompile(`^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge)$`)
)

// scrape asks for the exposition and reads every line of it.
func scrape(t *testing.T, s site, accept string) (values map[string]float64, types map[string]string) {
	t.Helper()
	w := s.get(t, "/metrics", "Accept", accept)
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	text, open := w.Body.String(), strings.HasPrefix(w.Header().Get("Content-Type"), "application/openmetrics-text")
	if rest, ended := strings.CutSuffix(text, "# EOF\n"); ended != open {
		t.Errorf("%s: ends with # EOF: %v", accept, ended)
	} else {
		text = rest
	}
	values, types = map[string]float64{}, map[string]string{}
	family := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := typeLine.FindStringSubmatch(line); m != nil {
			if _, twice := types[m[1]]; twice {
				t.Errorf("%s has its type twice", m[1])
			}
			family, types[m[1]] = m[1], m[2]
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil || m[1] != family && m[1] != family+"_total" {
			t.Fatalf("%s: after the type of %s: %q", accept, family, line)
		}
		v, err := strconv.ParseFloat(m[3], 64)
		if _, twice := values[m[1]+m[2]]; twice || err != nil {
			t.Errorf("%q: twice %v, %v", line, twice, err)
		}
		values[m[1]+m[2]] = v
	}
	return values, types
}

func TestMetrics(t *testing.T) {
	for accept, counter := range map[string]string{
		"application/openmetrics-text;version=1.0.0,text/plain;q=0.5": "node_pressure_io_waiting_seconds",
		"*/*": "node_pressure_io_waiting_seconds_total",
	} {
		values, types := scrape(t, show(t, scene(t, "stalling")), accept)
		if types[counter] != "counter" || types["stallmark_blocked_threads"] != "gauge" {
			t.Errorf("%s: types %q and %q", accept, types[counter], types["stallmark_blocked_threads"])
		}
		if values["node_pressure_io_waiting_seconds_total"] <= 0 {
			t.Errorf("%s: no value of a counter: %v", accept, values)
		}
		firing := 0
		for series, v := range values {
			if strings.HasPrefix(series, "stallmark_finding_firing{") && strings.Contains(series, `signature="dirty-throttling"`) && v == 1 {
				firing++
			}
		}
		if firing != 1 {
			t.Errorf("%s: dirty-throttling fires %d times, want once", accept, firing)
		}
	}
}

// TestMetricsOfHostileNames: whatever a device or a topic is called, it is one
// label value.
func TestMetricsOfHostileNames(t *testing.T) {
	for _, accept := range []string{"application/openmetrics-text", "text/plain"} {
		values, _ := scrape(t, show(t, scene(t, "hostile")), accept)
		if len(values) == 0 {
			t.Errorf("%s: nothing", accept)
		}
	}
}

func TestCalmHasNoFinding(t *testing.T) {
	values, _ := scrape(t, show(t, scene(t, "calm")), "text/plain")
	for series := range values {
		if strings.Contains(series, "stallmark_finding_firing") {
			t.Errorf("calm, and yet %s", series)
		}
	}
}
