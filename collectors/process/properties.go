package process

import (
	"encoding/json"
	"strings"
)

// parseProperties reads a Java properties file, as broker.conf,
// server.properties and zoo.cfg are, and calls f with each key and value.
// Comments start with # or !, a backslash at the end joins lines, keys end at
// the first =, : or blank. Unicode escapes are left as they are: no key or value
// that is kept has any.
func parseProperties(text string, f func(key, value string)) {
	joined := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		line = strings.TrimLeft(line, " \t\f")
		if joined == "" && (line == "" || line[0] == '#' || line[0] == '!') {
			continue
		}
		if before, ok := strings.CutSuffix(line, `\`); ok && oddBackslashes(line) {
			joined += before
			continue
		}
		property(joined+line, f)
		joined = ""
	}
	if joined != "" {
		property(joined, f)
	}
}

// oddBackslashes reports whether the last backslash is not itself escaped.
func oddBackslashes(line string) bool {
	return (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1
}

// property splits one logical line.
func property(line string, f func(key, value string)) {
	i := strings.IndexAny(line, "=: \t\f")
	if i < 0 {
		f(line, "")
		return
	}
	key := line[:i]
	rest := strings.TrimLeft(line[i:], " \t\f")
	if rest != "" && (rest[0] == '=' || rest[0] == ':') {
		rest = rest[1:]
	}
	f(key, strings.TrimSpace(rest))
}

// parseJSONConfig reads the top level of a JSON file, as rmq-proxy.json is:
// texts, numbers and truth values.
func parseJSONConfig(text string, f func(key, value string)) {
	var top map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &top) != nil {
		return
	}
	for key, raw := range top {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			s = string(raw)
		}
		f(key, s)
	}
}
