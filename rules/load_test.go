package rules

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// base is a file without a mistake; lines are replaced by their key.
var base = []string{
	"id: x",
	"title: A title",
	"layer: cause",
	"severity: critical",
	"needs: [a]",
	"when: a > 1",
	"what: Words.",
}

// fileWith replaces the line with the same key, or adds lines at the end.
func fileWith(text string) string {
	lines := append([]string{}, base...)
	key, _, _ := strings.Cut(text, ":")
	for i, l := range lines {
		if strings.HasPrefix(l, key+":") {
			lines[i] = text
			return strings.Join(lines, "\n") + "\n"
		}
	}
	return strings.Join(append(lines, text), "\n") + "\n"
}

// Every mistake is reported with its place.
func TestMistakes(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       string // of one of the problems
	}{
		{"unknown key", "wehn: a", `x.yaml:8:1: unknown key "wehn"`},
		{"key twice", "title2: x\ntitle2: y", `x.yaml:9:1: key "title2" is there twice`},
		{"no list", "needs: a", `x.yaml:5:8: want a list, got "a"`},
		{"nothing", "title:", `x.yaml:2:7: want a text, got nothing`},
		{"word", "layer: couse", `x.yaml:3:8: "couse": want one of cause, mechanism, symptom`},
		{"id", "id: Not_an_id", `x.yaml:1:5: "Not_an_id": want an id`},
		{"id is not the file's name", "id: y", `x.yaml:1:5: id "y" differs from the file's name "x"`},
		{"duration", "for: 2 seconds", `x.yaml:8:6: "2 seconds": want a duration`},
		{"duration too long", "lookback: 48h", `x.yaml:8:11: 48h: want between`},
		{"need", "needs: [a, 'b(']", `x.yaml:5:12: "b(": neither a metric name nor a regular expression`},
		{"need that matches all", "needs: ['.*']", `x.yaml:5:9: ".*": matches every name`},
		{"promql on the line", "when: a >> 1", `x.yaml:6:10: unexpected <op:>>`},
		{"promql in quotes", `when: "a > b["`, `x.yaml:6:14: `},
		{"promql in a block", "when: |\n  a > 1\n  and\n    b >> 2", `x.yaml:9:8: unexpected <op:>>`},
		{"promql in a deep block", "evidence:\n  - title: t\n    role: context\n    expr: |\n      sum(\n\n        a b)", `x.yaml:14:11: `},
		{"promql folded: its beginning", "when: >-\n  a\n  >> 1", `x.yaml:6:7: `},
		{"promql unknown function", "when: |\n  a > 1\n  or foo(a)", `x.yaml:8:6: unknown function with name "foo"`},
		{"promql type", "when: 1 > bool 2", `x.yaml:6:7: the expression gives a scalar: want instant vector`},
		{"promql range vector", "when: 'a[5s]'", `x.yaml:6:7: the expression gives a range vector`},
		{"template", "quiet: {expr: a, text: '{{.Value'}", `x.yaml:8:25: unclosed action`},
		{"template field", "quiet: {expr: a, text: 'is {{.Vlaue}}'}", `x.yaml:8:30: there is no .Vlaue here: want .Value or .Labels`},
		{"template function", "quiet: {expr: a, text: '{{nope 1}}'}", `x.yaml:8:25: function "nope" not defined`},
		{"template printf", "quiet: {expr: a, text: '{{printf \"%s\" .Value}}'}", `function "printf" is not for texts`},
		{"template loop", "quiet: {expr: a, text: '{{range 9}}x{{end}}'}", `loops and templates are not for texts`},
		{"template define", `quiet: {expr: a, text: '{{define "x"}}{{end}}'}`, `must not define templates`},
		{
			"template in a block", "remedy:\n  - title: t\n    kind: now\n    values:\n      speed: a\n    apply: |\n      one {{int .V.speed}}\n      two {{int .V.sped}}",
			`x.yaml:15:19: there is no value "sped" under ` + "`values`",
		},
		{"template in a block, syntax", "remedy:\n  - title: t\n    kind: now\n    apply: |\n      one\n      two {{if}}", `x.yaml:13:11: missing value for if`},
		{"evidence without expr", "evidence:\n  - title: t\n    role: confirms\n    threshold: 1", `x.yaml:9:5: key "expr" is missing`},
		{"evidence without threshold", "evidence:\n  - {title: t, role: confirms, expr: a}", `x.yaml:9:5: evidence that confirms needs a threshold`},
		{"a wait that there is not", "evidence:\n  - {title: t, role: witness, wait: [nonsense]}", `"nonsense": want one of dirty_throttle, reclaim`},
		{"evidence with wait", "evidence:\n  - {title: t, role: context, expr: a, wait: [reclaim]}", "only a witness has `wait`"},
		{"evidence before without lines", "evidence:\n  - {title: t, role: context, expr: a, before: 5m}", "only evidence with lines, pauses or stalls has `before`"},
		{"unit", "evidence:\n  - {title: t, role: context, expr: a, unit: parsecs}", `x.yaml:9:46: "parsecs": want one of bytes`},
		{"threshold", "evidence:\n  - {title: t, role: confirms, expr: a, threshold: .inf}", `want a finite number`},
		{"remedy kind", "remedy:\n  - {title: t, kind: soon}", `x.yaml:9:22: "soon": want one of now, later, accept`},
		{"test series", "tests:\n  - name: t\n    expect: quiet\n    series:\n      - 'a 1x2 b'", `x.yaml:12:16: `},
		{"test expectation", "tests:\n  - {name: t, series: ['a 1x2'], expect: red}", `"red": want one of firing`},
		{"an alias", "references: &a [x]\nexplains: *a", `x.yaml:9:11: want a list, got an alias`},
		{"no yaml", "when: [", `x.yaml:6:1: did not find expected ',' or ']'`},
		{"a block that is not indented", "tests:\n  - name: t\n expect: quiet", `x.yaml:10:2: did not find expected`},
		{"a tab", "when:\n\ta", `x.yaml:7:1: found character that cannot start any token`},
		{"a tab in an indentation", "evidence:\n  - title: t\n\t\trole: context", `x.yaml:10:1: found a tab character`},
		{"an alias to nothing", "references: *a", `x.yaml:8:13: unknown anchor 'a'`},
		{"a control character", "references: [a\x01]", `x.yaml:8:15: control characters are not allowed`},
		{"a second document", "---\nid: y", `x.yaml:9:1: a second document begins here`},
		{"a second document that is none", "---\nid: [", `x.yaml:10:1: did not find expected`},
		{"missing keys", "id: x", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, problems := parseSignature("x.yaml", []byte(fileWith(c.text)), nil)
			if c.want == "" {
				if s == nil {
					t.Fatalf("no mistake, yet: %v", problems)
				}
				return
			}
			if s != nil {
				t.Error("the file was taken in spite of its mistake")
			}
			for _, p := range problems {
				if strings.Contains(p.String(), c.want) {
					return
				}
			}
			t.Errorf("got %q, want one with %q", problems, c.want)
		})
	}
}

func TestAllMistakesOfAFileAreReported(t *testing.T) {
	_, problems := parseSignature("x.yaml", []byte("id: x\ntitel: t\nlayer: c\nwhen: )\n"), nil)
	var all strings.Builder
	for _, p := range problems {
		all.WriteString(p.String() + "\n")
	}
	for _, want := range []string{"2:1: unknown key", "3:8: ", "4:8: unexpected right parenthesis", `key "title" is missing`, `key "needs" is missing`} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("missing %q in:\n%s", want, all.String())
		}
	}
}

func TestFilesThatAreNoSignature(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "comment": "# nothing\n", "a list": "- a\n", "a text": "hello", "not UTF-8": "id: \xff\xfe", "zero bytes": "\x00\x00",
	} {
		if s, problems := parseSignature("x.yaml", []byte(text), nil); s != nil || len(problems) == 0 {
			t.Errorf("%s: got %v and %v, want a mistake", name, s, problems)
		}
	}
}

func writeFile(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A bad file stops nothing: the others, and the built-in ones, are there.
func TestLoadUserFolder(t *testing.T) {
	plain, _ := Load()
	dir := t.TempDir()
	writeFile(t, dir, "mine.yaml", strings.Replace(fileWith("explains: [some-other]"), "id: x", "id: mine", 1))
	writeFile(t, dir, "bad.yaml", "id: bad\nwhen: (\n")
	writeFile(t, dir, "dirty-throttling.yaml", strings.Replace(fileWith("for: 1s"), "id: x", "id: dirty-throttling", 1))
	writeFile(t, dir, "notes.txt", "no signature")
	writeFile(t, dir, ".hidden.yaml", "no signature")
	if err := os.Mkdir(filepath.Join(dir, "folder.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	pack, problems := Load(dir, filepath.Join(dir, "absent"))
	if pack.Signature("mine") == nil || pack.Signature("mine").BuiltIn {
		t.Error("the good user file is not there, or passes for a built-in one")
	}
	if pack.Signature("bad") != nil {
		t.Error("the bad file was taken")
	}
	if s := pack.Signature("dirty-throttling"); s == nil || !s.BuiltIn {
		t.Error("a user file replaced a built-in signature")
	}
	if len(pack.Signatures) != len(plain.Signatures)+1 {
		t.Errorf("got %d signatures, want %d", len(pack.Signatures), len(plain.Signatures)+1)
	}
	if pack.Version() == plain.Version() || pack.Version() == "" {
		t.Errorf("version %q with a user file, %q without", pack.Version(), plain.Version())
	}
	var mistakes []string
	for _, p := range Mistakes(problems) {
		mistakes = append(mistakes, p.String())
	}
	all := strings.Join(mistakes, "\n")
	for _, want := range []string{
		dir + "/bad.yaml:2:", dir + "/dirty-throttling.yaml: id", dir + "/folder.yaml: cannot read: not a regular file", dir + "/absent: cannot read: ",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("missing %q in:\n%s", want, all)
		}
	}
	if strings.Contains(all, "some-other") {
		t.Error("an unknown id in explains is a note, not a mistake")
	}
	if len(problems) == len(mistakes) {
		t.Error("no note about the unknown id in explains")
	}
}

func TestVersionFollowsContents(t *testing.T) {
	dir := t.TempDir()
	file := strings.Replace(fileWith("for: 1s"), "id: x", "id: mine", 1)
	writeFile(t, dir, "mine.yaml", file)
	a, _ := Load(dir)
	b, _ := Load(dir)
	writeFile(t, dir, "mine.yaml", file+"# a comment\n")
	c, _ := Load(dir)
	if a.Version() != b.Version() || a.Version() == c.Version() {
		t.Errorf("versions %s, %s of the same files, %s of another", a.Version(), b.Version(), c.Version())
	}
}

func TestPackIsSorted(t *testing.T) {
	text := func(layer, severity string) string {
		return "title: t\nlayer: " + layer + "\nseverity: " + severity + "\nneeds: [a]\nwhen: a\nwhat: w\n"
	}
	p := packOf(
		signature(t, "s", text("symptom", "critical")),
		signature(t, "b", text("cause", "warning")),
		signature(t, "m", text("mechanism", "info")),
		signature(t, "c", text("cause", "critical")),
		signature(t, "a", text("cause", "warning")),
	)
	var ids []string
	for _, s := range p.Signatures {
		ids = append(ids, s.ID)
	}
	if got := strings.Join(ids, " "); got != "c a b m s" {
		t.Errorf("got order %s, want c a b m s", got)
	}
}

// whole has every key. The shipped files would be seeds too large to mutate.
const whole = `id: x
title: A title
layer: cause
severity: critical
needs: [a, 'b_(c|d)']
when: |
  max_over_time(a[10s:1s]) > 1
  and rate(b[3s]) > 2
extent: a > 1
lookback: 20s
for: 2s
keep_firing_for: 5s
evidence:
  - {title: t, expr: a, unit: bytes, threshold: b, op: "<", role: confirms}
  - {title: t, role: witness, wait: [reclaim]}
explains: [y]
quiet: {expr: a, unit: count, text: "at {{.Value}} on {{.Labels.d}}", op: ">"}
differential: [z]
what: >-
  Words
  and words.
remedy:
  - title: t
    kind: now
    why: because
    when: a
    values: {v: a}
    current: '{{fact "f"}}'
    apply: set {{int .V.v}} {{.Subject.d}}
references: [r]
tests:
  - {name: t, interval: 1s, series: ['a{d="1"} 0+1x9 _ stale'], facts: {f: g}, expect: firing, at: 3s, subject: {d: "1"}, confidence: likely}
`

func TestEveryKeyIsRead(t *testing.T) {
	s, problems := parseSignature("x.yaml", []byte(whole), nil)
	if s == nil {
		t.Fatalf("%v", problems)
	}
	e, w, r, c := s.Evidence[0], s.Evidence[1], s.Remedy[0], s.Tests[0]
	for name, ok := range map[string]bool{
		"title": s.Title == "A title", "layer": s.Layer == "cause", "severity": s.Severity == "critical",
		"needs": len(s.Needs) == 2, "when": strings.HasSuffix(s.When, "> 2"), "extent": s.Extent == "a > 1",
		"times":    s.Lookback == 20*time.Second && s.For == 2*time.Second && s.KeepFiringFor == 5*time.Second,
		"evidence": e.Expr == "a" && e.Unit == "bytes" && e.Threshold.Expr == "b" && e.Op == Below && e.Role == "confirms",
		"witness":  w.Wait[0] == "reclaim" && strings.Contains(w.Expr, "stallmark_blocked_threads") && *w.Threshold.Number == 0,
		"explains": s.Explains[0] == "y", "differential": s.Differential[0] == "z", "what": s.What == "Words and words.",
		"quiet":  s.Quiet.Expr == "a" && s.Quiet.Unit == "count" && s.Quiet.Op == Above,
		"remedy": r.Kind == "now" && r.Why == "because" && r.When == "a" && r.Values["v"] == "a" && r.Apply != "" && r.Current != "",
		"tests": c.Interval == time.Second && c.At == 3*time.Second && c.Facts["f"] == "g" && c.Subject["d"] == "1" &&
			c.Expect == ExpectFiring && c.Confidence == "likely" && len(c.Series) == 1 && c.Line == 32,
		"references": s.References[0] == "r",
	} {
		if !ok {
			t.Errorf("%s: not as in the file: %+v", name, s)
		}
	}
}

func FuzzParseSignature(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(fileWith("when: |\n  a\n  >> 1")))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, problems := parseSignature("x.yaml", data, nil)
		if s == nil && len(problems) == 0 {
			t.Fatal("neither a signature nor a mistake")
		}
		for _, p := range problems {
			if p.Line < 1 || p.Column < 1 || p.Message == "" {
				t.Errorf("a mistake without its place: %+v", p)
			}
		}
	})
}
