package audit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBuiltInHasNoMistakes(t *testing.T) {
	p, problems := Load()
	for _, problem := range problems {
		t.Error(problem)
	}
	areas := map[Area]int{}
	for _, c := range p.checks {
		areas[c.area]++
	}
	for _, a := range Areas() {
		if areas[a] == 0 {
			t.Errorf("no check of area %s", a)
		}
	}
}

const good = `- id: x
  area: kernel
  title: X
  reads:
    value: sysctl.vm.x
    other: {fact: sysctl.vm.y, default: 1}
  values:
    twice: 2 * value
  current: "{{.V.value}}"
  why: Because.
  source: Us.
  change: Change it.
  command: sysctl -w vm.x=1
  persist: keep
  rollback: sysctl -w vm.x={{.V.value}}
  risk: None.
  verdicts:
    - when: twice > 4
      state: warn
      says: Too much.
    - state: ok
      says: Fine.
`

func TestMistakes(t *testing.T) {
	if _, problems := parseFile("x.yaml", []byte(good)); len(problems) > 0 {
		t.Fatal(problems)
	}
	for name, c := range map[string]struct{ old, new, want string }{
		"unknown key":              {"  why: Because.", "  why: Because.\n  whim: yes", `x.yaml:11:3: unknown key "whim"`},
		"unknown area":             {"area: kernel", "area: moon", `x.yaml:2:9: "moon": want one of kernel, rocketmq, kafka, jvm`},
		"unknown state":            {"state: warn", "state: bad", `x.yaml:19:14: "bad": want one of ok, advise, warn, absent`},
		"unknown is not a verdict": {"state: warn", "state: unknown", `x.yaml:19:14: "unknown": want one of`},
		"unknown name":             {"when: twice > 4", "when: twice > limit", `x.yaml:18:21: there is no "limit" under`},
		"unknown function":         {"when: twice > 4", "when: big(twice)", `x.yaml:18:13: there is no function "big"`},
		"arguments":                {"when: twice > 4", "when: not(twice, 4)", `x.yaml:18:13: not: wrong number of arguments`},
		"has of more than a name":  {"when: twice > 4", "when: has(twice + 1)", `x.yaml:18:13: has wants one name`},
		"syntax":                   {"when: twice > 4", "when: twice >", `x.yaml:18:20: expected operand`},
		"operator":                 {"when: twice > 4", "when: twice % 4", `x.yaml:18:21: % is no operator`},
		"no expression":            {"twice: 2 * value", "twice: value[1]", `x.yaml:8:12: want names, numbers`},
		"value before it is there": {"twice: 2 * value", "twice: 2 * later\n    later: value", `x.yaml:8:16: there is no "later"`},
		"name twice":               {"twice: 2 * value", "value: 2", `x.yaml:8:5: the name "value" is taken`},
		"constant as a name":       {"value: sysctl.vm.x", "value: sysctl.vm.x\n    true: sysctl.vm.z", `x.yaml:6:5: the name "true" is taken`},
		"odd name":                 {"twice: 2 * value", "Twice: 2 * value", `x.yaml:8:5: "Twice": want a name`},
		"template's value":         {"{{.V.value}}\"", "{{.V.nothing}}\"", `x.yaml:9:17: there is no value "nothing"`},
		"template's function":      {"  risk: None.", "  risk: \"{{printf .V.value}}\"", `x.yaml:16:12: function "printf" is not for texts`},
		"fact and query":           {"{fact: sysctl.vm.y, default: 1}", "{fact: a, query: b}", `x.yaml:6:12: want either`},
		"bad query":                {"{fact: sysctl.vm.y, default: 1}", "{query: sum(}", `x.yaml:6:24:`},
		"bad version":              {"{fact: sysctl.vm.y, default: 1}", "{fact: a, default: 1, since: {new: 2}}", `x.yaml:6:42: "new" is not a version`},
		"since without default":    {"{fact: sysctl.vm.y, default: 1}", "{fact: a, since: {4.9.1: 2}}", "x.yaml:6:12: `since` needs `default`"},
		"advice without a risk":    {"  risk: None.\n", "", `x.yaml:17:7: advice needs "risk"`},
		"no rollback":              {"  rollback: sysctl -w vm.x={{.V.value}}\n", "", `x.yaml:17:7: advice needs "rollback"`},
		"no source":                {"  source: Us.\n", "", `x.yaml:1:3: key "source" is missing`},
		"no why":                   {"  why: Because.\n", "", `x.yaml:1:3: key "why" is missing`},
		"no last verdict":          {"    - state: ok\n      says: Fine.\n", "", `x.yaml:1:3: the last verdict must have no`},
		"ok with advice":           {"      says: Fine.", "      says: Fine.\n      change: more", `x.yaml:21:7: a verdict that is ok has nothing to change`},
		"each without none":        {"  why: Because.", "  why: Because.\n  each: up", "a check with `each` needs `none`"},
		"applies without absent":   {"  why: Because.", "  why: Because.\n  applies: has(value)", "a check with `applies` needs `absent`"},
		"text cut by a comment":    {"command: sysctl -w vm.x=1", "command: sysctl -w vm.x=1   # now", `x.yaml:13:12: the text ends at the comment`},
		"twice":                    {"      says: Fine.\n", "      says: Fine.\n" + good, `x.yaml:23:3: id "x" is there twice`},
		"not a list":               {good, "id: x", "x.yaml:1:1: want a list"},
		"empty":                    {good, "", "x.yaml:1:1: the file is empty"},
		"not YAML":                 {good, "- id: [", "x.yaml:"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(good, c.old, c.new, 1)
			if text == good {
				t.Fatal("nothing was replaced")
			}
			_, problems := parseFile("x.yaml", []byte(text))
			if len(problems) == 0 {
				t.Fatal("no mistake was found")
			}
			for _, p := range problems {
				if strings.Contains(p.String(), c.want) {
					return
				}
			}
			t.Errorf("want %s, got %v", c.want, problems)
		})
	}
}

func TestLoadFolders(t *testing.T) {
	dir, empty := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "audit"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"own.yaml":   good,
		"again.yaml": strings.Replace(good, "id: x", "id: swappiness", 1),
		"bad.yaml":   "- id: 7 7",
		"notes.txt":  "not a check",
	} {
		if err := os.WriteFile(filepath.Join(dir, "audit", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "audit", "device.yaml")); err != nil {
		t.Fatal(err)
	}
	builtIn, _ := Load()
	p, problems := Load(dir, empty)
	if p.Len() != builtIn.Len()+1 {
		t.Errorf("%d checks, want %d", p.Len(), builtIn.Len()+1)
	}
	var all strings.Builder
	for _, problem := range problems {
		all.WriteString(problem.String() + "\n")
	}
	for _, want := range []string{"bad.yaml:1:7:", `id "swappiness" is already in audit/kernel.yaml`, "device.yaml: cannot read: not a regular file"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("want %s in\n%s", want, all.String())
		}
	}
}

func FuzzParseFile(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("- id: x\n  verdicts: [{when: \"has(\"}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, problems := parseFile("x.yaml", data)
		for _, p := range problems {
			if p.Line < 1 || p.Column < 1 {
				t.Errorf("no place: %s", p)
			}
		}
	})
}
