package host

import (
	"strconv"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// maxLoad is more than there can be tasks.
const maxLoad = 1e9

// loadavg reads /proc/loadavg.
type loadavg struct {
	file
	series [3]*model.Series
}

func newLoadavg() *loadavg {
	return &loadavg{
		file: file{name: "proc/loadavg"},
		series: [3]*model.Series{
			model.NewSeries("node_load1"), model.NewSeries("node_load5"), model.NewSeries("node_load15"),
		},
	}
}

// Name implements [collectors.Source].
func (*loadavg) Name() string { return "loadavg" }

// Provides implements [collectors.Source].
func (*loadavg) Provides() []string { return []string{"node_load"} }

// Collect implements [collectors.Source].
func (a *loadavg) Collect(root collectors.Root, out *collectors.Out) error {
	data, err := a.read(root)
	if err != nil {
		return err
	}
	l := readLines(a.name, data)
	rest, _ := l.next()
	used := false
	for _, series := range a.series {
		var field []byte
		field, rest = cutField(rest)
		v, err := strconv.ParseFloat(string(field), 64)
		if err != nil || !(v >= 0 && v <= maxLoad) { // also for NaN
			l.fault("three load averages")
			break
		}
		out.Add(series, v)
		used = true
	}
	return l.err(used)
}
