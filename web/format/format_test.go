package format

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

func TestValue(t *testing.T) {
	for _, c := range []struct {
		v    float64
		unit string
		want string
	}{
		{1.5 * (1 << 30), "bytes", "1.5 GiB"},
		{64 << 20, "bytes", "64 MiB"},
		{76, "percent", "76 %"},
		{0.0021, "seconds", "2.1 ms"},
		{0.0000021, "seconds", "2.1 µs"},
		{12, "ms", "12 ms"},
		{853, "per_second", "853/s"},
		{12345, "pages", "12,345 pages"},
		{0, "bytes", "0 B"},
		{math.NaN(), "bytes", "–"},
	} {
		if got := Value(c.v, c.unit); got != strings.ReplaceAll(c.want, " ", "\u00a0") {
			t.Errorf("Value(%v, %s) = %q, want %q", c.v, c.unit, got, c.want)
		}
	}
	if Optional(nil, "bytes") != "unmeasured" {
		t.Error("absent is not zero")
	}
}

func TestScale(t *testing.T) {
	for _, c := range []struct {
		top, v             float64
		unit, number, name string
	}{
		{4.4 * (1 << 30), 1 << 30, "bytes", "1", "GiB"},
		{5_000_000, 1 << 20, "bytes/s", "1", "MiB/s"},
		{0.0021, 0.001, "seconds", "1", "ms"},
		{2500, 2500, "per_second", "2.5", "k/s"},
		{100, 33.333, "percent", "33.3", "%"},
		{0, 0, "seconds", "0", "s"},
		{0.004, 0.004, "ratio", "0.004", ""},
		{123456789, 123456789, "pages", "123", "M pages"},
		{7, 7, "wakes", "7", "wakes"},
	} {
		s := ScaleFor(c.top, c.unit)
		if got := s.Number(c.v); got != c.number || s.Unit != c.name {
			t.Errorf("%v %s on an axis to %v is %q %q, want %q %q", c.v, c.unit, c.top, got, s.Unit, c.number, c.name)
		}
	}
}

func TestFixed(t *testing.T) {
	for _, c := range []struct {
		v    float64
		n    int
		want string
	}{{1234567.891, 1, "1,234,567.9"}, {-1234, 0, "-1,234"}, {0.5, 2, "0.50"}, {math.NaN(), 1, "–"}, {math.Inf(1), 1, "–"}} {
		if got := Fixed(c.v, c.n); got != c.want {
			t.Errorf("Fixed(%v, %d) = %q, want %q", c.v, c.n, got, c.want)
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		850 * time.Millisecond: "850 ms", 39 * time.Second: "39 s", 128 * time.Second: "2 min 08 s", 65 * time.Minute: "1 h 05 min",
		76 * time.Hour: "3 d 4 h", -2 * time.Second: "–2 s", 0: "0 ms",
	} {
		if got := Span(d); got != strings.ReplaceAll(want, " ", "\u00a0") {
			t.Errorf("Span(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain äöü 漢字":          "plain äöü 漢字",
		"a\x00b\x1b[31m":        `a\u0000b\u001b[31m`,
		"abc\u202etxt.exe":      `abc\u202etxt.exe`,
		"zero\u200bwidth\ufeff": `zero\u200bwidth\ufeff`,
		"bad\xffutf8":           "bad\uFFFDutf8",
		"tab\tand\nline":        "tab and\nline",
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
	if got := Clean(strings.Repeat("x", 10_000)); utf8.RuneCountInString(got) != maxText+1 {
		t.Errorf("long text is %d runes", utf8.RuneCountInString(got))
	}
}

// FuzzClean lets nothing invisible through.
func FuzzClean(f *testing.F) {
	f.Add("a\u202e\x00")
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range Clean(s) {
			if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
				t.Fatalf("Clean(%q) has %U", s, r)
			}
		}
	})
}
