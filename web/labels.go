package web

import (
	"github.com/prometheus/prometheus/model/labels"

	"stallmark/storage/model"
	"stallmark/web/format"
)

// sameLabels compares series without their names.
func sameLabels(a, b labels.Labels) bool {
	return labels.Equal(a.DropReserved(isName), b.DropReserved(isName))
}

// nameLabel holds a metric's name, by Prometheus' convention.
const nameLabel = "__name__"

func isName(n string) bool { return n == nameLabel }

// subjectOf names what a series is about.
func subjectOf(l labels.Labels) string {
	for _, name := range []string{"process", "mountpoint", "device"} {
		if v := l.Get(name); v != "" {
			return format.Clean(v)
		}
	}
	return ""
}

// labelsOf copies the labels of a series, in order.
func labelsOf(l labels.Labels) []model.Label {
	var out []model.Label
	l.Range(func(one labels.Label) { out = append(out, model.Label{Name: one.Name, Value: one.Value}) })
	return out
}
