package match

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"stallmark/storage/model"
)

func pat(id, regexp string, fields map[string]model.LogUnit, literals ...string) model.LogPattern {
	return model.LogPattern{ID: id, Literals: literals, Regexp: regexp, Fields: fields}
}

func mustSet(t testing.TB, patterns ...model.LogPattern) *Set {
	t.Helper()
	s, err := New(patterns)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNextFindsEachLineOnce(t *testing.T) {
	s := mustSet(t,
		pat("cost", `in lock cost time\(ms\)=(?P<duration>\d+)`, map[string]model.LogUnit{"duration": "ms"}, "in lock cost time(ms)="),
		pat("busy", `system busy`, nil, "system busy"),
	)
	text := []byte("nothing here\nin lock cost time(ms)=12 system busy\r\nin lock cost time(ms)=x\n\nsystem busy")
	var got []string
	var hit Hit
	for at := 0; s.Next(text, at, &hit); at = hit.End + 1 {
		d, _ := hit.Duration()
		got = append(got, fmt.Sprintf("%s %d-%d %v", hit.Pattern.ID, hit.Start, hit.End, d))
	}
	want := []string{"cost 13-50 12ms", "busy 76-87 0s"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLongestLiteralWins(t *testing.T) {
	s := mustSet(t,
		pat("short", `broker busy`, nil, "broker busy"),
		pat("long", `\[PCBUSY_CLEAN_QUEUE\]broker busy`, nil, "[PCBUSY_CLEAN_QUEUE]broker busy"),
	)
	for line, want := range map[string]string{
		"CODE: 2 [PCBUSY_CLEAN_QUEUE]broker busy, start": "long",
		"CODE: 2 broker busy, start":                     "short",
	} {
		var hit Hit
		if !s.Match([]byte(line), &hit) || hit.Pattern.ID != want {
			t.Errorf("%q: got %+v, want %s", line, hit.Pattern, want)
		}
	}
}

// TestFilterAgreesWithPlainSearch holds the filter against a search that cannot
// be wrong, on text made of pieces of the literals.
func TestFilterAgreesWithPlainSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		var literals []string
		for range 1 + r.IntN(40) {
			l := make([]byte, model.MinLogLiteral+r.IntN(20))
			for i := range l {
				l[i] = "abcdefgh"[r.IntN(2+round%7)]
			}
			if !slices.Contains(literals, string(l)) {
				literals = append(literals, string(l))
			}
		}
		f := newFilter(literals)
		var text strings.Builder
		for range r.IntN(60) {
			l := literals[r.IntN(len(literals))]
			text.WriteString(l[r.IntN(3):])
			text.WriteByte("abx"[r.IntN(3)])
		}
		line := []byte(text.String())
		got := f.all(line, nil)
		for i, l := range literals {
			if want, found := bytes.Count(line, []byte(l)) > 0, slices.Contains(got, int32(i)); want != found {
				t.Fatalf("%q in %q: got %v, want %v", l, line, found, want)
			}
		}
		if from := r.IntN(len(line) + 1); (f.first(line, from) >= 0) != slices.ContainsFunc(literals, func(l string) bool {
			return bytes.Contains(line[from:], []byte(l))
		}) {
			t.Fatalf("first from %d of %q among %q: %d", from, line, literals, f.first(line, from))
		}
	}
}

func TestNothingIsAllocatedForOtherLines(t *testing.T) {
	s := mustSet(t, pat("a", `in lock cost`, nil, "in lock cost time(ms)="))
	text := bytes.Repeat([]byte("2026-01-02 03:04:05 INFO x - nothing that anybody looks for\n"), 1000)
	var hit Hit
	if n := testing.AllocsPerRun(10, func() { s.Next(text, 0, &hit) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	line := text[:59]
	if n := testing.AllocsPerRun(10, func() { s.Match(line, &hit) }); n != 0 {
		t.Errorf("%v allocations for a line", n)
	}
}

func TestMistakesAreNamedAndTheRestIsUsed(t *testing.T) {
	s, err := New([]model.LogPattern{
		pat("none", `x`, nil),
		pat("short", `x`, nil, "abcd"),
		pat("bad", `x(`, nil, "abcdef"),
		pat("huge", `(?:(?:x{1000}){10}){10}`, nil, "abcdef"),
		pat("long", strings.Repeat("x", 3000), nil, "abcdef"),
		pat("field", `x`, map[string]model.LogUnit{"y": "ms"}, "abcdef"),
		pat("good", `abcdef`, nil, "abcdef"),
	})
	for _, id := range []string{"none", "short", "bad", "huge", "long", "field"} {
		if err == nil || !strings.Contains(err.Error(), `pattern "`+id+`"`) {
			t.Errorf("%s is not in %v", id, err)
		}
	}
	var hit Hit
	if s.Len() != 1 || !s.Match([]byte("an abcdef"), &hit) {
		t.Errorf("%d patterns", s.Len())
	}
}

func TestEmptySet(t *testing.T) {
	s := mustSet(t)
	var hit Hit
	if s.Next([]byte("a line\n"), 0, &hit) || s.Match(nil, &hit) {
		t.Error("an empty set recognises something")
	}
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		text string
		unit model.LogUnit
		want float64
		ok   bool
	}{
		{"1083", "ms", 1.083, true},
		{"7.45s", "time", 7.45, true},
		{"1m3.5s", "time", 63.5, true},
		{"850.5ms", "time", 0.8505, true},
		{"2.1m", "time", 126, true},
		{"12.3µs", "time", 12.3e-6, true},
		{"1.5gb", "size", 1.5 * (1 << 30), true},
		{"512 MB", "size", 512 << 20, true},
		{"4kB", "size", 4096, true},
		{"1,234", "kib", 1234 * 1024, true},
		{"91", "percent", 0.91, true},
		{"-1.0", "ratio", -1, true},
		{"1605061702100", "epoch-ms", 1605061702100, true},
		{"topic", "text", 0, false},
		{"", "ms", 0, false},
		{"NaN", "ms", 0, false},
		{"1e999", "ms", 0, false},
		{"s", "time", 0, false},
		{"5 parsecs", "time", 0, false},
		{strings.Repeat("9", 60), "ms", 0, false},
	} {
		got, ok := value([]byte(c.text), c.unit)
		if ok != c.ok || ok && (got-c.want > 1e-9*c.want+1e-12 || c.want-got > 1e-9*c.want+1e-12) && c.want > 0 {
			t.Errorf("%q %s: got %v %v, want %v %v", c.text, c.unit, got, ok, c.want, c.ok)
		}
	}
}

func TestImplausibleDurationsAndInstants(t *testing.T) {
	s := mustSet(t, pat("a", `took (?P<duration>-?\d+) from (?P<start>\d+)`,
		map[string]model.LogUnit{"duration": "s", "start": "epoch-ms"}, "took "))
	for line, want := range map[string]string{
		"took 5 from 1605061702100": "5s true 2020-11-11T02:28:22Z true",
		"took -5 from 0":            "0s false 0001-01-01T00:00:00Z false",
		"took 99999999999 from 1":   "0s false 1970-01-01T00:00:00Z true",
	} {
		var hit Hit
		if !s.Match([]byte(line), &hit) {
			t.Fatalf("%q: no match", line)
		}
		d, ok := hit.Duration()
		began, known := hit.Began()
		if got := fmt.Sprintf("%v %v %s %v", d, ok, began.Format(time.RFC3339), known); got != want {
			t.Errorf("%q: got %s, want %s", line, got, want)
		}
	}
}

func FuzzNext(f *testing.F) {
	s := mustSet(f,
		pat("a", `in lock cost time\(ms\)=(?P<duration>\d+)`, map[string]model.LogUnit{"duration": "ms"}, "in lock cost time(ms)="),
		pat("b", `took (?P<duration>\S+)`, map[string]model.LogUnit{"duration": "time"}, "took "),
	)
	f.Add([]byte("x in lock cost time(ms)=12\ntook 1.5s\r\n"))
	f.Add([]byte("took took took 1\n\n\ntook "))
	f.Fuzz(func(t *testing.T, text []byte) {
		var hit, single Hit
		lines := map[int]string{}
		for at := 0; s.Next(text, at, &hit); at = hit.End + 1 {
			lines[hit.Start] = hit.Pattern.ID
		}
		start := 0
		for _, line := range bytes.SplitAfter(text, []byte("\n")) {
			id := ""
			if s.Match(bytes.TrimSuffix(line, []byte("\n")), &single) {
				id = single.Pattern.ID
			}
			if lines[start] != id {
				t.Fatalf("line at %d: Next says %q, Match says %q", start, lines[start], id)
			}
			start += len(line)
		}
	})
}
