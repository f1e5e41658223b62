package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"stallmark/rules"
)

// caseFile is testdata/cases.yaml.
type caseFile struct {
	Base  fixture               `yaml:"base"`
	Cases map[string][]testCase `yaml:"cases"`
}

type testCase struct {
	Want    State  `yaml:"want"`
	Says    string `yaml:"says"`
	Command string `yaml:"command"`
	fixture `yaml:",inline"`
}

func readCases(tb testing.TB) caseFile {
	tb.Helper()
	f, err := os.Open(filepath.Join("testdata", "cases.yaml"))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var c caseFile
	d := yaml.NewDecoder(f)
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil {
		tb.Fatal(err)
	}
	return c
}

func builtInPack(tb testing.TB) *Pack {
	tb.Helper()
	p, problems := Load()
	for _, problem := range problems {
		tb.Fatal(problem)
	}
	return p
}

// only is a pack of one check.
func (p *Pack) only(id string) *Pack {
	return &Pack{slices.DeleteFunc(slices.Clone(p.checks), func(c *check) bool { return c.id != id })}
}

func TestCases(t *testing.T) {
	file, p := readCases(t), builtInPack(t)
	for id, cases := range file.Cases {
		one := p.only(id)
		if one.Len() != 1 {
			t.Errorf("there is no check %q", id)
		}
		for i, c := range cases {
			t.Run(fmt.Sprintf("%s/%d-%s", id, i, c.Want), func(t *testing.T) {
				c.check(t, file.Base.with(c.fixture).run(t, one))
			})
		}
	}
}

// check compares with the most pressing result; a check of processes gives one
// for each.
func (c testCase) check(t *testing.T, results []Result) {
	t.Helper()
	if len(results) == 0 {
		t.Fatal("no result")
	}
	r := results[0]
	if i := slices.IndexFunc(results, func(r Result) bool { return r.State == c.Want && strings.Contains(r.Says, c.Says) }); i >= 0 {
		r = results[i]
	}
	if r.State != c.Want || !strings.Contains(r.Says, c.Says) {
		t.Errorf("got %s: %s\nwant %s: ...%s...", r.State, r.Says, c.Want, c.Says)
	}
	if judged := r.State != Unknown && r.State != Absent; judged != (r.Current != "") {
		t.Errorf("%s with the present setting %q", r.State, r.Current)
	}
	if asks := c.Want == Advise || c.Want == Warn; asks != (r.Advice != nil) {
		t.Fatalf("%s with advice %+v", r.State, r.Advice)
	}
	if r.Advice != nil && !strings.Contains(r.Advice.Command, c.Command) {
		t.Errorf("command %q lacks %q", r.Advice.Command, c.Command)
	}
	complete(t, r)
}

// complete checks that no text is missing or has a hole.
func complete(t *testing.T, r Result) {
	t.Helper()
	if r.Says == "" || r.Title == "" || r.Source == "" {
		t.Errorf("a text is missing: %+v", r)
	}
	texts := []string{r.Says, r.Current, r.Why}
	if a := r.Advice; a != nil {
		texts = append(texts, a.Change, a.Command, a.Persist, a.Rollback, a.Risk)
		if r.Why == "" || r.Current == "" || a.Change == "" || a.Command == "" || a.Persist == "" || a.Rollback == "" || a.Risk == "" {
			t.Errorf("advice is not complete: %+v, %+v", r, a)
		}
	}
	for _, text := range texts {
		if strings.Contains(text, "<no value>") || strings.Contains(text, "{{") {
			t.Errorf("hole in %q", text)
		}
	}
}

// TestEveryVerdictHasACase makes the table complete.
func TestEveryVerdictHasACase(t *testing.T) {
	file, p := readCases(t), builtInPack(t)
	reached := map[*verdict]bool{}
	for _, check := range p.checks {
		for _, c := range file.Cases[check.id] {
			s := file.Base.with(c.fixture).store(t)
			h, err := newHost(t.Context(), s, rules.NewQuery(s, beat), fixtureTime())
			if err != nil {
				t.Fatal(err)
			}
			for _, subject := range subjectsOf(t, h, check) {
				v, err := check.choose(&scope{host: h, check: check, subject: subject, known: map[string]outcome{}})
				if err == nil {
					reached[v] = true
				}
			}
		}
	}
	for _, check := range p.checks {
		for i := range check.verdicts {
			if !reached[&check.verdicts[i]] {
				t.Errorf("%s: no case reaches verdict %d (%s)", check.id, i+1, check.verdicts[i].says)
			}
		}
	}
}

func subjectsOf(t *testing.T, h *host, c *check) []map[string]string {
	t.Helper()
	if c.each == "" {
		return []map[string]string{nil}
	}
	subjects, err := h.subjects(c.each)
	if err != nil {
		t.Fatal(err)
	}
	return subjects
}

// subjectsOnly leaves of a fixture what says that there are disks and brokers.
func (f fixture) subjectsOnly() fixture {
	bare := fixture{Facts: map[string]*string{}, Series: map[string]*float64{}}
	for text, value := range f.Series {
		if strings.HasPrefix(text, "stallmark_process_info") || strings.HasPrefix(text, "stallmark_disk_info") {
			bare.Series[text] = value
		}
	}
	for _, key := range []string{"process.10.role", "process.20.role", "process.10.config", "process.20.config"} {
		bare.Facts[key] = f.Facts[key]
	}
	return bare
}

// fromCommandLine lists the checks that options alone can decide. A broker is
// recognised by its command line, so those are always known.
func fromCommandLine() []string {
	return []string{
		"jvm-gc-log", "jvm-safepoint-log", "jvm-perfdata", "jvm-pretouch", "jvm-heap-fixed", "jvm-huge-pages", "kafka-heap",
	}
}

// TestUnreadIsUnknown: where nothing could be read nothing is ok.
func TestUnreadIsUnknown(t *testing.T) {
	file, p := readCases(t), builtInPack(t)
	host := file.Base.subjectsOnly()
	host.Unread = map[string]string{"*": "denied: not allowed"}
	for _, r := range host.run(t, p) {
		if slices.Contains(fromCommandLine(), r.ID) {
			continue
		}
		if r.State != Unknown || r.Says == "" || r.Advice != nil {
			t.Errorf("%s is %s: %s", r.ID, r.State, r.Says)
		}
	}
}

// TestWhatIsNotThereIsNotAdvised: a host whose sources all could be read and
// found nothing gets no advice about its kernel.
func TestWhatIsNotThereIsNotAdvised(t *testing.T) {
	file, p := readCases(t), builtInPack(t)
	for _, r := range file.Base.subjectsOnly().run(t, p) {
		if r.Area == Kernel && (r.State == Warn || r.State == Advise) {
			t.Errorf("%s is %s: %s", r.ID, r.State, r.Says)
		}
	}
	for _, r := range (fixture{}).run(t, p) {
		if r.Area != Kernel && r.State != Absent {
			t.Errorf("without brokers %s is %s: %s", r.ID, r.State, r.Says)
		}
	}
}
