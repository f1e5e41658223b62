package rules

import (
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
)

// metricName is the label that holds a metric's name.
const metricName = "__name__"

// subjectOf is the labels of a result without the metric's name.
func subjectOf(ls labels.Labels) map[string]string {
	m := ls.Map()
	delete(m, metricName)
	return m
}

// subjectKey is a text that is equal exactly for equal subjects.
func subjectKey(subject map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(subject)) {
		b.WriteString(name)
		b.WriteByte(0xff)
		b.WriteString(subject[name])
		b.WriteByte(0xfe)
	}
	return b.String()
}

// Agrees reports whether a series speaks of the subject: every label name that
// both have has the same value in both.
func Agrees(subject map[string]string, ls labels.Labels) bool {
	ok := true
	ls.Range(func(l labels.Label) {
		if v, has := subject[l.Name]; has && l.Name != metricName && v != l.Value {
			ok = false
		}
	})
	return ok
}

// agreesMap is Agrees for an event's attributes.
func agreesMap(subject, attrs map[string]string) bool {
	for name, v := range attrs {
		if s, has := subject[name]; has && s != v {
			return false
		}
	}
	return true
}

// furthest is, among the samples that agree with the subject, the one that says
// most; nil if there is none. Values that are not finite are no values.
func furthest(v promql.Vector, subject map[string]string, op Op) *promql.Sample {
	var best *promql.Sample
	for i := range v {
		s := &v[i]
		if s.H != nil || !finite(s.F) || !Agrees(subject, s.Metric) {
			continue
		}
		if best == nil || op.Further(s.F, best.F) {
			best = s
		}
	}
	return best
}

func finite(v float64) bool { return v-v == 0 }
