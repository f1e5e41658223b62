package audit

import (
	"errors"
	"strings"
	"testing"
)

// known are the names of the tests of expressions.
func known(name string) (any, error) {
	switch name {
	case "eight":
		return "8", nil
	case "pi":
		return 3.14, nil
	case "yes":
		return "true", nil
	case "flush":
		return "SYNC_FLUSH", nil
	case "options":
		return "rw,noatime,barrier=0", nil
	case "lacking":
		return nil, gap{lacking: true, why: "not on this host"}
	}
	return nil, gap{why: name + " was not read"}
}

func evaluate(t *testing.T, text string) (any, error) {
	t.Helper()
	e, err := parseExpression(text, []string{"eight", "pi", "yes", "flush", "options", "lacking", "unread"})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return eval(e.tree, known)
}

func TestEval(t *testing.T) {
	for text, want := range map[string]any{
		"eight":                                  "8",
		"eight + 1":                              9.0,
		"2 + 3 * 4 - 10 / 4":                     11.5,
		"-(2 + eight)":                           -10.0,
		"2 * MiB":                                2097152.0,
		"eight == 8 && eight != 9":               true,
		"eight == \"8.0\"":                       true,
		"flush == \"SYNC_FLUSH\"":                true,
		"flush == 8":                             false,
		"yes && not(false)":                      true,
		"yes == true":                            true,
		"!yes":                                   false,
		"pi >= 3 && pi <= 4 && pi > 3 && pi<4":   true,
		"max(1, eight, 3)":                       8.0,
		"min(4, eight)":                          4.0,
		"floor(1000, 64)":                        960.0,
		"size(\"8g\") / GiB":                     8.0,
		"size(\"512M\") == 512 * MiB":            true,
		"size(\"4096\")":                         4096.0,
		"since(\"4.9.10\", \"4.9.9\")":           true,
		"since(\"4.9\", \"4.9.0\")":              true,
		"since(\"5.14.0-427.el9\", \"5.14\")":    true,
		"since(\"6.18.44-fc-v782\", \"6.19\")":   false,
		"under(\"/tmp/kafka\", \"/tmp\")":        true,
		"under(\"/tmpfs/kafka\", \"/tmp\")":      false,
		"under(\"/a, /tmp/../tmp/b\", \"/tmp\")": true,
		"under(\"/a\", \"/\")":                   true,
		"word(options, \"noatime\")":             true,
		"word(options, \"barrier\", \"atime\")":  false,
		"match(options, \"atime\")":              true,
		"has(eight)":                             true,
		"has(lacking)":                           false,
		"lacks(lacking)":                         true,
		"has(lacking) && lacking > 1":            false,
		"yes || unread > 1":                      true,
		"pick(has(lacking), lacking, 5)":         5.0,
		"pick(yes, 4, unread)":                   4.0,
		"eight ==\n  8":                          true,
	} {
		if got, err := evaluate(t, text); err != nil || got != want {
			t.Errorf("%s = %v (%v), want %v", text, got, err, want)
		}
	}
}

func TestEvalGaps(t *testing.T) {
	for text, lacking := range map[string]bool{
		"lacking > 1": true, "unread > 1": false, "has(unread)": false, "lacks(unread)": false, "yes && unread": false,
		"max(1, lacking)": true, "pick(unread, 1, 2)": false, "unread == 1": false, "1 == lacking": true,
	} {
		v, err := evaluate(t, text)
		if g, ok := errors.AsType[gap](err); !ok || g.lacking != lacking {
			t.Errorf("%s = %v, %v", text, v, err)
		}
	}
}

func TestEvalMismatch(t *testing.T) {
	for text, want := range map[string]string{
		"flush > 1":                      "is not a number",
		"flush && yes":                   "neither true nor false",
		"1 / (eight - 8)":                "division by zero",
		"size(\"big\")":                  "is not a size",
		"size(\"-1\")":                   "is not a size",
		"since(\"trunk\", \"1\")":        "is not a version",
		"not(\"maybe\")":                 "neither true nor false",
		"min(1, flush)":                  "is not a number",
		"pick(flush, 1, 2)":              "neither true nor false",
		"true + 1":                       "is not a number",
		"floor(flush, 2)":                "is not a number",
		"has(eight) && flush * 2 > 1":    "is not a number",
		"yes || true && flush > eight*2": "",
	} {
		_, err := evaluate(t, text)
		if want == "" && err == nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func FuzzExpression(f *testing.F) {
	for _, s := range []string{"eight > 1 && has(lacking)", "pick(yes, size(\"8g\"), -1)", "1/0", "func(){}()", "a.b", "max(", "\"\\x00\"", "0x1p-2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := parseExpression(text, []string{"eight", "yes", "lacking"})
		if m, ok := errors.AsType[mistake](err); ok && (m.offset < 0 || m.offset > len(text)) {
			t.Errorf("%q: offset %d", text, m.offset)
		}
		if err == nil {
			_, _ = eval(e.tree, known)
		}
	})
}
