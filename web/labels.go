package web

import (
	"github.com/prometheus/prometheus/model/labels"

	"stallmark/storage/model"
)

// nameLabel holds a metric's name, by Prometheus' convention.
const nameLabel = "__name__"

// labelsOf copies the labels of a series, in order.
func labelsOf(l labels.Labels) []model.Label {
	var out []model.Label
	l.Range(func(one labels.Label) { out = append(out, model.Label{Name: one.Name, Value: one.Value}) })
	return out
}
