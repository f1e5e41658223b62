package patterns

import (
	"encoding/json"
	"strings"
	"testing"

	"stallmark/collectors/logs/match"
	"stallmark/collectors/logs/stamp"
)

// layouts are ways in which one message reaches a log.
var layouts = map[string]func(message string) string{
	"logback with brackets": func(m string) string { return "2026-01-02 03:04:05.678 WARN  [main] o.a.r.Broker - " + m },
	"log4j with the thread last": func(m string) string {
		return "2026-01-02 03:04:05,678 WARN " + m + " (org.apache.Some) [kafka-request-handler-1]"
	},
	"docker compose": func(m string) string { return "broker-1  | 2026-01-02 03:04:05 WARN main - " + m },
	"CRI":            func(m string) string { return "2026-01-01T19:04:06.5Z stdout F 2026-01-02 03:04:05 WARN main - " + m },
	"JSON": func(m string) string {
		return `{"@timestamp":"2026-01-02T03:04:05.678Z","level":"WARN","thread":"main","message":` + quoted(m) + `,"logger":"x"}`
	},
	"JSON, the time last": func(m string) string {
		return `{"message":` + quoted(m) + `,"level":"WARN","@timestamp":"2026-01-02T03:04:05.678Z"}`
	},
	"json-file": func(m string) string {
		text, _ := json.Marshal("2026-01-02 03:04:05 WARN main - " + m + "\n")
		return `{"log":` + string(text) + `,"stream":"stdout","time":"2026-01-01T19:04:06.5Z"}`
	},
	"carriage return": func(m string) string { return "2026-01-02 03:04:05 WARN main - " + m + "\r" },
}

// quoted is a JSON string as Java's libraries write it. Docker's escapes < and >.
func quoted(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// TestOtherLayouts puts every sample into layouts that its product does not ship,
// and looks for it there.
func TestOtherLayouts(t *testing.T) {
	pack, _ := Load()
	set, err := match.New(pack.Patterns)
	if err != nil {
		t.Fatal(err)
	}
	var hit match.Hit
	for _, s := range pack.samples {
		if !s.want || strings.HasPrefix(s.line, "{") || strings.HasPrefix(s.pattern, "kernel-") {
			continue
		}
		message := messageOf(s.line)
		for name, layout := range layouts {
			line := layout(message)
			switch {
			case !set.Match([]byte(line), &hit):
				t.Errorf("%s: not recognised in %s: %q", s.pattern, name, line)
			case hit.Pattern.ID != s.pattern:
				t.Errorf("%s: taken for %s in %s: %q", s.pattern, hit.Pattern.ID, name, line)
			}
			if _, ok := stamp.Find([]byte(line)); !ok {
				t.Errorf("%s: no time stamp in %q", name, line)
			}
		}
	}
}

// messageOf is a sample without its layout.
func messageOf(line string) string {
	if s, ok := stamp.Find([]byte(line)); ok {
		line = strings.TrimLeft(line[s.End:], "] \t")
	}
	if _, message, ok := strings.Cut(line, " - "); ok && !strings.Contains(line, "(org.apache") {
		line = message
	}
	for _, level := range []string{"INFO ", "WARN ", "ERROR ", "DEBUG ", "FATAL "} {
		line = strings.TrimPrefix(line, level)
	}
	return line
}
