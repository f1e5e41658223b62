package rules

import (
	"fmt"
	"strings"
	"testing"

	"stallmark/storage/model"
)

// gated is a signature about brokers only.
const gated = `
title: Full
layer: cause
severity: critical
applies: {expr: 'info{role="broker"}', none: no watched broker}
needs: [used]
when: used > 10
quiet: {expr: used, unit: count, text: "{{.Value}} in use"}
what: It is full.
for: 5s
`

func TestThreeOutcomes(t *testing.T) {
	brokers := func(state model.SourceState, mend string) []model.Coverage {
		return []model.Coverage{
			{Source: "brokers", State: state, Detail: "why", Mend: mend, Provides: []string{"info"}},
			{Source: "use", State: model.SourceDenied, Detail: "no right", Mend: "CAP_X", Provides: []string{"used"}},
		}
	}
	for name, c := range map[string]struct {
		series   []string
		coverage []model.Coverage
		want     string
	}{
		"ruled out":             {[]string{`info{role="broker"} 1x40`, `used 3x40`}, nil, "ruled out: 3 in use"},
		"another role":          {[]string{`info{role="other"} 1x40`, `used 3x40`}, nil, "none: no watched broker"},
		"nobody":                {[]string{`x 3x40`}, brokers(model.SourceAbsent, "start one"), "none: no watched broker, start one"},
		"cannot look":           {[]string{`x 3x40`}, brokers(model.SourceDenied, "be root"), "unknown: brokers is denied: why (no info), be root, blinds"},
		"failed to look":        {[]string{`x 3x40`}, brokers(model.SourceFailed, ""), "unknown: brokers is failed: why (no info), , blinds"},
		"there, not measured":   {[]string{`info{role="broker"} 1x40`}, brokers(model.SourceOK, ""), "unknown: use is denied: no right (no used), CAP_X, blinds"},
		"gone before the end":   {[]string{`info{role="broker"} 1x20 stale`, `used 3x20 stale`}, brokers(model.SourceAbsent, ""), "ruled out: 3 in use"},
		"it came, not for long": {[]string{`info{role="broker"} _x37 1 1 1`, `used _x37 3 3 3`, `x 1x40`}, nil, "unknown: watched for 2s only, ruling it out takes 5s"},
	} {
		t.Run(name, func(t *testing.T) {
			src := data(t, c.series...)
			if c.coverage != nil {
				src.coverage = c.coverage
			}
			r := replay(t, packOf(signature(t, "full", gated)), src, 39)
			got := ""
			for _, o := range r.RuledOut {
				got += "ruled out: " + o.Why
			}
			for _, n := range r.NotApplicable {
				got += strings.TrimSuffix("none: "+n.Why+", "+n.Mend, ", ")
			}
			for _, u := range r.Unknown {
				got += "unknown: " + u.Why
				if u.Mend != "watch for longer" {
					got += ", " + u.Mend
					if u.Blinds() {
						got += ", blinds"
					}
				}
			}
			if !strings.HasPrefix(got, c.want) || len(r.RuledOut)+len(r.Unknown)+len(r.NotApplicable) != 1 {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestOldKernelsLackNeeds(t *testing.T) {
	limited := strings.Replace(gated, "[used]", `[{metric: used, since: "4.13", else: look into dmesg}]`, 1)
	for name, c := range map[string]struct {
		kernel, why string
		lacking     bool
	}{
		"older":       {"3.10.0-1160.el7.x86_64", "this kernel (3.10) has no used: Linux has it since 4.13", true},
		"much older":  {"2.6.32", "this kernel (2.6) has no used: Linux has it since 4.13", true},
		"that one":    {"4.13.0", "nothing here measures used", false},
		"newer":       {"6.18.5-gentoo", "nothing here measures used", false},
		"not a Linux": {"unknown", "nothing here measures used", false},
		"no fact":     {"", "nothing here measures used", false},
	} {
		t.Run(name, func(t *testing.T) {
			src := data(t, `info{role="broker"} 1x40`)
			src.facts = map[string]model.Fact{}
			if c.kernel != "" {
				src.facts["host.kernel"] = model.Fact{Key: "host.kernel", Value: c.kernel}
			}
			r := replay(t, packOf(signature(t, "full", limited)), src, 39)
			if len(r.Unknown) != 1 || r.Unknown[0].Why != c.why || r.Unknown[0].Lacking != c.lacking || r.Unknown[0].Blinds() == c.lacking {
				t.Fatalf("%+v", r.Unknown)
			}
			if got := r.Unknown[0].Mend; (got == "look into dmesg") != c.lacking {
				t.Errorf("mend %q", got)
			}
		})
	}
}

// What nothing would mend is no reason to look further.
func TestAbsentForGoodIsLacking(t *testing.T) {
	for mend, lacking := range map[string]bool{"": true, "psi=1": false} {
		src := data(t, `info{role="broker"} 1x40`)
		src.coverage = []model.Coverage{{Source: "use", State: model.SourceAbsent, Detail: "none", Mend: mend, Provides: []string{"used"}}}
		r := replay(t, packOf(signature(t, "full", gated)), src, 39)
		if len(r.Unknown) != 1 || r.Unknown[0].Lacking != lacking {
			t.Errorf("mend %q: %+v", mend, r.Unknown)
		}
	}
}

func TestNeedAndAppliesMistakes(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"no version":   {"[used]", `[{metric: used}]`, `x.yaml:6:9: key "since" is missing`},
		"bad version":  {"[used]", `[{metric: used, since: new}]`, `x.yaml:6:31: "new": want a version of Linux`},
		"no metric":    {"[used]", `[{since: "4.13"}]`, `x.yaml:6:9: key "metric" is missing`},
		"no none":      {", none: no watched broker", "", `x.yaml:5:10: key "none" is missing`},
		"no vector":    {`'info{role="broker"}'`, "1", "x.yaml:5:17: the expression gives a scalar"},
		"other key":    {"none:", "nobody:", `x.yaml:5:10: key "none" is missing x.yaml:5:40: unknown key "nobody"`},
		"another need": {"[used]", "[[used]]", "x.yaml:6:9: want a text"},
	} {
		t.Run(name, func(t *testing.T) {
			text := "id: x" + strings.Replace(gated, c.old, c.new, 1)
			s, problems := parseSignature("x.yaml", []byte(text), nil)
			if all := strings.Trim(fmt.Sprint(problems), "[]"); s != nil || !strings.HasPrefix(all, c.want) {
				t.Errorf("%v, want %q", problems, c.want)
			}
		})
	}
}

func TestExpectNotApplicable(t *testing.T) {
	with := gated + "tests:\n  - {name: n, series: [%s], expect: %s}\n"
	for name, c := range map[string]struct {
		series, expect string
		ok             bool
	}{
		"none as expected":    {`x 1x20`, "not_applicable", true},
		"none is not quiet":   {`x 1x20`, "quiet", false},
		"none is not unknown": {`x 1x20`, "unknown", false},
		"it applies":          {`'info{role="broker"} 1x20', used 1x20`, "not_applicable", false},
		"quiet":               {`'info{role="broker"} 1x20', used 1x20`, "quiet", true},
		"unknown":             {`'info{role="broker"} 1x20'`, "unknown", true},
	} {
		text := strings.Replace(strings.Replace(with, "%s", c.series, 1), "%s", c.expect, 1)
		rs := RunTests(t.Context(), packOf(signature(t, "full", text)))
		if len(rs) != 1 || rs[0].OK != c.ok {
			t.Errorf("%s: %+v", name, rs)
		}
	}
}
