package rules

import (
	"time"

	"go.yaml.in/yaml/v3"

	"stallmark/storage/model"
)

// wait reads the name of a group of kernel functions.
func (r *reader) wait(n *yaml.Node) string {
	return r.word(n, model.WaitNames()...)
}

// test reads one entry of `tests`.
func (r *reader) test(n *yaml.Node) TestCase {
	t := TestCase{Line: n.Line, Interval: time.Second, At: -1}
	r.mapping(n, map[string]func(*yaml.Node){
		"name":     func(n *yaml.Node) { t.Name = r.text(n) },
		"interval": func(n *yaml.Node) { t.Interval = r.duration(n, 100*time.Millisecond, time.Minute) },
		"series": func(n *yaml.Node) {
			r.list(n, func(n *yaml.Node) { t.Series = append(t.Series, r.series(n)) })
		},
		"facts": func(n *yaml.Node) { t.Facts = r.textMap(n) },
		"expect": func(n *yaml.Node) {
			t.Expect = Expectation(r.word(n, string(ExpectFiring), string(ExpectPending), string(ExpectResolved),
				string(ExpectQuiet), string(ExpectUnknown), string(ExpectNone)))
		},
		"at":      func(n *yaml.Node) { t.At = r.duration(n, 0, maxWait) },
		"subject": func(n *yaml.Node) { t.Subject = r.textMap(n) },
		"confidence": func(n *yaml.Node) {
			t.Confidence = model.Confidence(r.word(n, string(model.Confirmed), string(model.Likely), string(model.Possible)))
		},
	})
	r.require(n, "name", "series", "expect")
	return t
}

// series reads a series in promtool's notation: name{labels} and values.
func (r *reader) series(n *yaml.Node) string {
	s := r.text(n)
	if s == "" {
		return ""
	}
	if _, _, err := newParser().ParseSeriesDesc(s); err != nil {
		r.promqlErrors(n, err, func(offset int) int { return offset })
	}
	return s
}
