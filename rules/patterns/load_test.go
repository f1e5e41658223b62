package patterns

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stallmark/collectors/logs/match"
	"stallmark/rules"
	"stallmark/storage/model"
)

// recogniser is the real matcher over a pack.
func recogniser(t testing.TB, p *Pack) Recognise {
	t.Helper()
	set, err := match.New(p.Patterns)
	if err != nil {
		t.Fatal(err)
	}
	var hit match.Hit
	return func(line string) (string, map[string]string) {
		if !set.Match([]byte(line), &hit) {
			return "", nil
		}
		fields := map[string]string{}
		for _, f := range hit.Fields {
			fields[f.Name] = string(f.Text)
		}
		return hit.Pattern.ID, fields
	}
}

func TestBuiltInPatterns(t *testing.T) {
	pack, problems := Load()
	for _, p := range problems {
		t.Error(p)
	}
	for _, p := range pack.CheckSamples(recogniser(t, pack)) {
		t.Error(p)
	}
}

// TestLiteralsAreLongEnough keeps the search at its full speed.
func TestLiteralsAreLongEnough(t *testing.T) {
	pack, _ := Load()
	for _, p := range pack.Patterns {
		for _, l := range p.Literals {
			if len(l) < model.FastLogLiteral {
				t.Errorf("%s: literal %q has %d bytes, want %d or more", p.ID, l, len(l), model.FastLogLiteral)
			}
		}
	}
}

func TestMistakesHaveTheirPlace(t *testing.T) {
	const good = `product: mine
patterns:
  - id: mine-a
    title: A
    versions: all
    proof: direct
    literals: ['took too long: ']
    regexp: 'took too long: (?P<duration>\d+)'
    fields: {duration: ms}
    meaning: It took long.
    match: ['x took too long: 12']
    no_match: ['x took too long: y']
`
	for name, c := range map[string]struct{ old, new, want string }{
		"good":             {"", "", ""},
		"regexp":           {`(?P<duration>\d+)`, `(?P<duration>\d+`, "mine.yaml:8:14: regexp: error parsing regexp: missing closing"},
		"unknown key":      {"meaning:", "meening:", `mine.yaml:10:5: unknown key "meening"`},
		"missing key":      {"    title: A\n", "", `mine.yaml:3:5: key "title" is missing`},
		"proof":            {"direct", "certain", "mine.yaml:6:12: "},
		"unit":             {"duration: ms", "duration: lightyears", "mine.yaml:9:24: "},
		"no such group":    {"{duration: ms}", "{size: bytes}", `mine.yaml:9:14: field "size" is no named group`},
		"literal":          {"'took too long: '", "'abc'", "mine.yaml:7:16: literal \"abc\": want 5 to 256 bytes"},
		"no literals":      {"['took too long: ']", "[]", "mine.yaml:7:15: want at least one"},
		"built-in id":      {"mine-a", "rocketmq-put-in-lock", "is already in patterns/rocketmq-store.yaml"},
		"short literal":    {"'took too long: '", "'took too '", `mine.yaml:7:16: note: literal "took too " has 9 bytes`},
		"huge regexp":      {`'took too long: (?P<duration>\d+)'`, `'((?P<duration>x{900}){1000}'`, "mine.yaml:8:"},
		"yaml":             {"product: mine", "product: [", "mine.yaml:"},
		"not a mapping":    {"product: mine\npatterns:", "product: mine\npatterns: 3\nx:", "want a list"},
		"twice":            {"    title: A\n", "    title: A\n    title: B\n", "is there twice"},
		"empty samples":    {"['x took too long: 12']", "[]", "mine.yaml:11:12: want at least one"},
		"sample mapping":   {"['x took too long: 12']", "[{lime: x}]", `unknown key "lime"`},
		"literal is a map": {"['took too long: ']", "[{}]", "want a text"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "patterns", "mine.yaml"), strings.Replace(good, c.old, c.new, 1))
			pack, problems := Load(dir)
			var all []string
			for _, p := range problems {
				all = append(all, p.String())
			}
			got := strings.Join(all, "\n")
			if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if pack.Patterns[0].ID == "" {
				t.Error("the other files are gone")
			}
			if used := pack.Patterns[len(pack.Patterns)-1].Product == "mine"; used != (len(rules.Mistakes(problems)) == 0) {
				t.Errorf("used: %v, problems %q", used, got)
			}
		})
	}
}

func TestSamplesThatFail(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "patterns", "mine.yaml"), `product: mine
patterns:
  - id: mine-a
    title: A
    versions: all
    proof: hint
    literals: ['took long']
    meaning: It took long.
    match:
      - 'it took lon'
      - 'it took long, really'
      - {line: 'it took long', fields: {duration: '5'}}
    no_match: ['took long']
  - id: mine-b
    title: B
    versions: all
    proof: noise
    literals: ['took long, really']
    meaning: It took long.
    match: ['it took long, really']
`)
	pack, problems := Load(dir)
	if len(rules.Mistakes(problems)) > 0 {
		t.Fatal(problems)
	}
	var got []string
	for _, p := range pack.CheckSamples(recogniser(t, pack)) {
		got = append(got, strings.TrimPrefix(p.String(), dir))
	}
	want := []string{
		`/patterns/mine.yaml:10:9: mine-a: does not match its sample`,
		`/patterns/mine.yaml:11:9: mine-a: its sample is taken by the more specific mine-b`,
		`/patterns/mine.yaml:12:9: mine-a: field duration is "", want "5"`,
		`/patterns/mine.yaml:13:16: mine-a: matches a line that it must not`,
	}
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("got %q, want %q", got[i], want[i])
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("product: a\npatterns:\n  - {id: b, title: c, versions: d, proof: hint, literals: [abcdef], meaning: e, match: [abcdef]}\n"))
	f.Add([]byte("product: [\n"))
	f.Add([]byte("product: a\npatterns: [{literals: [*x]}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		patterns, _, problems := parseFile("x.yaml", data)
		if len(rules.Mistakes(problems)) > 0 {
			for _, p := range problems {
				if p.Line < 1 || p.Column < 1 {
					t.Errorf("no place: %v", p)
				}
			}
			return
		}
		if _, err := match.New(patterns); err != nil {
			t.Errorf("accepted, and cannot be used: %v", err)
		}
	})
}
