package rules

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const letSignature = `id: x
title: X
layer: cause
severity: warning
needs: [a]
let:
  busy: sum by (device) (rate(a[3s]))  # per device
  twice: |
    2 * $busy # of it
    + b
when: $twice > 3 and a{job="$busy"} > 0
evidence:
  - {title: T, expr: $busy, unit: count, role: context, threshold: "clamp_min($busy, 1)"}
quiet: {expr: "$busy", unit: count, text: "{{.Value}}"}
remedy:
  - {title: R, kind: now, when: "$busy > 1", values: {v: "$twice"}}
what: Text.
`

func TestLetIsFilledIn(t *testing.T) {
	s, problems := parseSignature("x.yaml", []byte(letSignature), nil)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	busy := "(sum by (device) (rate(a[3s])))"
	twice := "(2 * " + busy + " # of it\n+ b\n)"
	for what, c := range map[string][2]string{
		"when":      {s.When, twice + ` > 3 and a{job="$busy"} > 0`},
		"evidence":  {s.Evidence[0].Expr, busy},
		"threshold": {s.Evidence[0].Threshold.Expr, "clamp_min(" + busy + ", 1)"},
		"quiet":     {s.Quiet.Expr, busy},
		"remedy":    {s.Remedy[0].When, busy + " > 1"},
		"value":     {s.Remedy[0].Values["v"], twice},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %q, want %q", what, c[0], c[1])
		}
	}
}

func TestLetMistakesHavePlaces(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"unknown name":      {"when: $twice", "when: $thrice", "x.yaml:11:7: $thrice: `let` does not define it (above this place); it has busy, twice"},
		"no name":           {"when: $twice", "when: $ + 1", "x.yaml:11:7: $ without a name"},
		"used before":       {"rate(a[3s])", "rate($twice[3s])", "x.yaml:7:31: $twice: `let` defines no names"},
		"mistake inside":    {"rate(a[3s])", "rate(a[3s]", "x.yaml:7:"},
		"mistake after":     {"> 3 and", "> > 3 and", "x.yaml:11:16: "},
		"range of a result": {"when: $twice > 3", "when: rate($twice[3s]) > 3", "x.yaml:11:18: ranges only"},
		"bad name":          {"  busy: sum", "  Busy: sum", `x.yaml:7:3: "Busy": want a name`},
		"no mapping":        {"  busy: sum by (device) (rate(a[3s]))  # per device\n  twice: |\n    2 * $busy # of it\n    + b\n", "  - busy\n", "x.yaml:7:3: want a mapping"},
		"a string":          {"  busy: sum by (device) (rate(a[3s]))", `  busy: '"text"'`, "x.yaml:7:9: the expression gives a string"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(letSignature, c.old, c.new, 1)
			s, problems := parseSignature("x.yaml", []byte(text), nil)
			if s != nil || len(problems) == 0 || !strings.HasPrefix(problems[0].String(), c.want) {
				t.Errorf("%v, want %q", problems, c.want)
			}
		})
	}
}

func TestLetThatDoublesIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("n0: a\n")
	for i := 1; i < 40; i++ {
		name := "n" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		before := "n0"
		if i > 1 {
			before = "n" + string(rune('a'+(i-1)/26)) + string(rune('a'+(i-1)%26))
		}
		b.WriteString(name + ": $" + before + " + $" + before + "\n")
	}
	_, problems := parseLets("let.yaml", []byte(b.String()), nil)
	if len(problems) == 0 || !strings.Contains(problems[0].Message, "more than 32768") {
		t.Errorf("%v", problems)
	}
}

func TestLetOfAFolder(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mine := strings.Replace(letSignature, "  busy: sum by (device) (rate(a[3s]))  # per device\n", "", 1)
	write("x.yaml", mine)
	write("let.yaml", "busy: a + 1\n")
	pack, problems := Load(dir)
	s := pack.Signature("x")
	if s == nil {
		t.Fatal(Mistakes(problems))
	}
	if !strings.Contains(s.When, "(a + 1)") {
		t.Error(s.When)
	}
	version := pack.Version()
	write("let.yaml", "busy: a + 2\n")
	if pack, _ = Load(dir); pack.Version() == version {
		t.Error("the version does not tell the names apart")
	}
	write("let.yaml", "busy: a +\n")
	pack, problems = Load(dir)
	if pack.Signature("x") != nil || len(Mistakes(problems)) < 2 {
		t.Errorf("a mistake in the names: %v", Mistakes(problems))
	}
	write("let.yaml", "busy: a\n")
	write("x.yaml", letSignature)
	if _, problems = Load(dir); len(Mistakes(problems)) != 1 || !strings.Contains(Mistakes(problems)[0].Message, "is taken") {
		t.Errorf("a name defined twice: %v", Mistakes(problems))
	}
}

func FuzzExpand(f *testing.F) {
	for _, s := range []string{"$a", `x{l="$a"} + $a`, "# $a\n$a", "$", `"\`, "$a$a", "'$b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		known := lets{"a": "1 # one", "b": "a"}
		e, err := known.expand(s)
		if err != nil {
			return
		}
		for i := range len(e.text) + 1 {
			if at := e.original(i); at < 0 || at > len(s) {
				t.Fatalf("%q: byte %d of %q comes from %d", s, i, e.text, at)
			}
		}
	})
}
