package rules

import (
	"strings"
	"testing"
)

// The tests inside signature files must be able to fail.
func TestRunTestsFails(t *testing.T) {
	for _, c := range []struct {
		name, test string
		want       string // part of the message; empty passes
	}{
		{"fires", `{name: t, series: ['level 0x4 20x9'], expect: firing}`, ""},
		{"does not fire", `{name: t, series: ['level 0x14'], expect: firing}`, "want firing: nothing has fired"},
		{"too early", `{name: t, series: ['level 0x4 20x9'], expect: firing, at: 6s}`, "want firing: pending"},
		{"pending", `{name: t, series: ['level 0x4 20x9'], expect: pending, at: 6s}`, ""},
		{"another subject", `{name: t, series: ['level{device="a"} 0x4 20x9'], expect: firing, subject: {device: b}}`, "want firing with map[device:b]: firing map[device:a] since 5s"},
		{"this subject", `{name: t, series: ['level{device="a"} 0x4 20x9'], expect: firing, subject: {device: a}}`, ""},
		{"surer than it is", `{name: t, series: ['level 0x4 20x9'], expect: firing, confidence: confirmed}`, "want firing, confirmed: firing"},
		{"quiet", `{name: t, series: ['level 0x9'], expect: quiet}`, ""},
		{"quiet at the end only", `{name: t, series: ['level 0x4 20x4 0x9'], expect: quiet}`, "resolved map[] since 5s, possible, until 9s"},
		{"resolved", `{name: t, series: ['level 0x4 20x4 0x9'], expect: resolved}`, ""},
		{"not resolved", `{name: t, series: ['level 0x4 20x9'], expect: resolved}`, "still fires"},
		{"unknown is not quiet", `{name: t, series: ['other 0x9'], expect: quiet}`, "it is unknown: nothing here measures level"},
		{"unknown", `{name: t, series: ['other 0x9'], expect: unknown}`, ""},
		{"not unknown", `{name: t, series: ['level 0x9'], expect: unknown}`, "every need has samples"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := signature(t, "too-high", level+"tests:\n  - "+c.test+"\n")
			rs := RunTests(t.Context(), packOf(s))
			if len(rs) != 1 {
				t.Fatalf("got %d results", len(rs))
			}
			if r := rs[0]; r.OK != (c.want == "") || !strings.Contains(r.Message, c.want) {
				t.Errorf("got %v %q, want %q", r.OK, r.Message, c.want)
			}
		})
	}
}

func TestRunTestsOfAFailingQuery(t *testing.T) {
	text := strings.Replace(level, "when: level > 10", "when: level * on (device) group_left level > 10", 1)
	s := signature(t, "too-high", text+`tests: [{name: t, series: ['level{device="a",x="1"} 1x9', 'level{device="a",x="2"} 1x9'], expect: quiet}]`)
	if r := RunTests(t.Context(), packOf(s))[0]; r.OK || !strings.Contains(r.Message, "many-to-many") {
		t.Errorf("got %+v, want the query's error", r)
	}
}
