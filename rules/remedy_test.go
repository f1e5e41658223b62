package rules

import (
	"strings"
	"testing"

	"stallmark/storage/model"
)

// advice renders one remedy, given as YAML, for a subject.
func advice(t *testing.T, remedy string, src *memSource, subject map[string]string) []model.Remedy {
	t.Helper()
	s := signature(t, "too-high", level+"remedy:\n  - "+strings.ReplaceAll(strings.TrimSpace(remedy), "\n", "\n    ")+"\n")
	b := newBeat(src, NewQuery(src, 1e9), second(5))
	out, err := remedies(t.Context(), b, s, subject)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func facts(src *memSource, pairs ...string) *memSource {
	for i := 0; i < len(pairs); i += 2 {
		src.facts[pairs[i]] = model.Fact{Key: pairs[i], Value: pairs[i+1]}
	}
	return src
}

func TestRemedyIsFittedToTheHost(t *testing.T) {
	src := facts(data(t, `speed{device="a"} 300000000x9`, `speed{device="b"} 100000000x9`), "sysctl.vm.dirty_bytes", "0", "sysctl.vm.dirty_ratio", "20")
	out := advice(t, `
title: Lower it
kind: now
values:
  speed: speed
current: "{{fact \"sysctl.vm.dirty_ratio\"}} % of memory"
apply: sysctl -w vm.dirty_background_bytes={{int .V.speed}}
rollback: 'sysctl -w vm.dirty_{{if eq (fact "sysctl.vm.dirty_bytes") "0"}}ratio={{fact "sysctl.vm.dirty_ratio"}}{{else}}bytes={{fact "sysctl.vm.dirty_bytes"}}{{end}}'
verify: '{{.Subject.device}} settles at {{bytes .V.speed}}, {{round 2.6}} or {{format 0.25 "seconds"}}'
`, src, map[string]string{"device": "b"})
	if len(out) != 1 {
		t.Fatalf("got %d remedies, want 1", len(out))
	}
	want := model.Remedy{
		Title: "Lower it", Kind: model.RemedyNow,
		Current:  "20 % of memory",
		Apply:    "sysctl -w vm.dirty_background_bytes=100000000",
		Rollback: "sysctl -w vm.dirty_ratio=20",
		Verify:   "b settles at 95.4 MiB, 3 or 250 ms",
	}
	if out[0] != want {
		t.Errorf("got  %+v\nwant %+v", out[0], want)
	}
}

func TestRemedyAppliesOrNot(t *testing.T) {
	for _, c := range []struct {
		name, remedy string
		shown        bool
	}{
		{"plain", "title: t\nkind: later", true},
		{"condition holds", "title: t\nkind: later\nwhen: speed > 1", true},
		{"condition does not hold", "title: t\nkind: later\nwhen: speed > 99", false},
		{"condition of another subject", `title: t` + "\nkind: later\n" + `when: speed{device="b"}`, false},
		{"needs a value that is missing", "title: t\nkind: now\nvalues: {v: nothing}\napply: set {{int .V.v}}", false},
		{"prints a value that is missing", "title: t\nkind: now\nvalues: {v: nothing}\napply: set {{.V.v}}", false},
		{"asks for a value that is missing", "title: t\nkind: now\nvalues: {v: nothing}\napply: set {{with .V.v}}{{int .}}{{else}}it{{end}}", true},
		{"needs a fact that is missing", `title: t` + "\nkind: now\n" + `apply: set {{fact "nope"}}`, false},
		{"asks for a fact that is missing", `title: t` + "\nkind: now\n" + `apply: set {{if fact "nope"}}a{{else}}b{{end}}`, true},
		{"needs a label that the subject lacks", "title: t\nkind: now\napply: set {{.Subject.pid}}", false},
		{"asks for a label that the subject lacks", "title: t\nkind: now\napply: set {{with .Subject.pid}}{{.}}{{else}}it{{end}}", true},
		{"a fact that is no number", `title: t` + "\nkind: now\n" + `apply: set {{int (fact "word")}}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := facts(data(t, `speed{device="a"} 3x9`, `speed{device="b"} 3x9`), "word", "lots")
			out := advice(t, c.remedy, src, map[string]string{"device": "a"})
			if (len(out) == 1) != c.shown {
				t.Errorf("got %+v, shown should be %v", out, c.shown)
			}
			for _, r := range out {
				if text := r.Apply + r.Why; strings.Contains(text, "<") || strings.Contains(text, "{{") {
					t.Errorf("a hole in %q", text)
				}
			}
		})
	}
}

// Names and facts are other people's text. They may be told, but not put into a
// command that somebody pastes into a root shell.
func TestHostileTextStaysOutOfCommands(t *testing.T) {
	for _, hostile := range []string{"a; rm -rf /", "$(reboot)", "`reboot`", "a\nreboot", "x' 'y", "a|b", "a&b", "a b", "\"", "\\", "*", "#x"} {
		src := facts(data(t, `speed 3x9`), "f", hostile)
		subject := map[string]string{"device": hostile}
		for _, remedy := range []string{
			"title: t\nkind: now\napply: echo {{.Subject.device}}",
			"title: t\nkind: now\n" + `persist: 'x = {{fact "f"}}'`,
			"title: t\nkind: now\n" + `rollback: 'x = {{fact "f"}}'`,
			"title: t\nkind: now\n" + `apply: '{{index .Subject "device"}}{{fact "f"}}'`,
		} {
			for _, r := range advice(t, remedy, src, subject) {
				t.Errorf("%q got into %+v", hostile, r)
			}
		}
		if out := advice(t, "title: t\nkind: now\ncurrent: 'is {{.Subject.device}}'", src, subject); len(out) != 1 {
			t.Errorf("%q may be told", hostile)
		}
	}
}

func TestPlainNamesGetIntoCommands(t *testing.T) {
	for _, name := range []string{"vda", "nvme0n1p1", "/dev/mapper/vg-lv", "mq-deadline", "8:0", "kubepods.slice/pod-1"} {
		out := advice(t, "title: t\nkind: now\napply: echo {{.Subject.device}}", data(t, `speed 3x9`), map[string]string{"device": name})
		if len(out) != 1 || out[0].Apply != "echo "+name {
			t.Errorf("%s: got %+v", name, out)
		}
	}
}

func TestRenderedTextIsBounded(t *testing.T) {
	_, err := render("{{fact \"f\"}}", textData{}, func(string) any { return strings.Repeat("x", maxRendered+1) })
	if err == nil {
		t.Error("a text without bounds was rendered")
	}
}

// Advice is rendered while the fault is there, and kept when it is over.
func TestRemedyIsThatOfTheFault(t *testing.T) {
	s := signature(t, "too-high", level+`
remedy:
  - title: t
    kind: now
    values: {v: level}
    apply: set {{int .V.v}}
`)
	f := only(t, s, data(t, `level 0x9 20x9 0x20`), 30)
	if f.State != model.StateResolved || len(f.Remedy) != 1 || f.Remedy[0].Apply != "set 20" {
		t.Errorf("got %s with %+v, want resolved with `set 20`", f.State, f.Remedy)
	}
}

func FuzzTemplate(f *testing.F) {
	for _, s := range loadBuiltIn(f).Signatures {
		for _, r := range s.Remedy {
			f.Add(r.Why, 1.5)
			f.Add(r.Apply, 0.0)
			f.Add(r.Rollback, -1.0)
		}
	}
	f.Add(`{{if gt .V.v 1.0}}{{index .Subject "device"}}{{end}}`, 2.0)
	f.Fuzz(func(t *testing.T, text string, v float64) {
		s, problems := parseSignature("x.yaml", []byte(fileWith("remedy:\n  - title: t\n    kind: now\n    values: {v: a}\n    apply: "+quoteYAML(text))), nil)
		if s == nil {
			if len(problems) == 0 {
				t.Fatal("neither a signature nor a mistake")
			}
			return
		}
		data := remedyData{V: map[string]any{"v": v}, Subject: map[string]any{"device": "$(reboot)"}}
		m, ok := s.Remedy[0].fill(data, func(string) any { return "`reboot`" })
		if ok && (strings.Contains(m.Apply, "$(reboot)") || strings.Contains(m.Apply, "`reboot`")) &&
			!strings.Contains(text, "reboot") {
			t.Errorf("hostile text got into %q by %q", m.Apply, text)
		}
		if ok && len(m.Apply) > max(maxRendered, len(text)) {
			t.Errorf("%d bytes rendered", len(m.Apply))
		}
	})
}

// quoteYAML is a text as a double-quoted YAML scalar, as JSON has it.
func quoteYAML(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r < ' ' || r == 0x7f:
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Words that stand for something of the process are filled in as far as it is
// known and plain; what is not stays for the reader.
func TestPlaceholdersInCommands(t *testing.T) {
	src := facts(data(t, `a 1x9`), "process.7.logs", "/home/rmq/logs", "process.7.gc_log", "/x/gc_%p.log", "process.7.store", "/data/$(reboot)")
	for _, c := range []struct {
		subject map[string]string
		want    string
	}{
		{map[string]string{"pid": "7"}, "jcmd 7 x; grep y LOGSX /home/rmq/logs/a.log GC_LOG; ls STORE /proc/7/fd; grep TracerPid"},
		{map[string]string{"pid": "8"}, "jcmd 8 x; grep y LOGSX LOGS/a.log GC_LOG; ls STORE /proc/8/fd; grep TracerPid"},
		{nil, "jcmd PID x; grep y LOGSX LOGS/a.log GC_LOG; ls STORE /proc/PID/fd; grep TracerPid"},
	} {
		out := advice(t, "title: t\nkind: now\napply: jcmd PID x; grep y LOGSX LOGS/a.log GC_LOG; ls STORE /proc/PID/fd; grep TracerPid", src, c.subject)
		if len(out) != 1 || out[0].Apply != c.want {
			t.Errorf("%v: %+v, want %s", c.subject, out, c.want)
		}
	}
}
