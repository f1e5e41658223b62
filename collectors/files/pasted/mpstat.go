package pasted

import (
	"slices"

	"stallmark/storage/model"
)

// cpu is the row of all CPUs together, or of one.
func (t *sar) cpu(name string, m map[string]float64) []Value {
	cpus := 1.0
	switch {
	case name == "all":
		t.idlest = min(t.idlest, m["%idle"])
		if cpus = t.r.cpus; cpus == 0 {
			return nil
		}
	case !numeric(name):
		return nil
	default:
		if t.ones == nil {
			t.ones = map[string]float64{}
		}
		t.ones[name] = max(t.ones[name], 100-m["%idle"])
	}
	var list []Value
	for column, v := range m {
		if mode, ok := cpuModes[column]; ok {
			list = append(list, Value{model.NewSeries("node_cpu_seconds_total", "cpu", name, "mode", mode), Rate, v / 100 * cpus})
		}
	}
	return list
}

// finishCPUs says how busy the CPUs were. Where they stand one by one, the row of
// all is left out, or the sum would be twice what it is.
func (t *sar) finishCPUs() {
	p := t.part
	if t.columns != nil && slices.Index(t.columns, "%irq") >= 0 && slices.Index(t.columns, "%irq") < slices.Index(t.columns, "%steal") {
		p.Format = "mpstat"
	}
	if t.idlest <= 100 {
		p.say("idle down to %.0f %% of all CPUs", t.idlest)
	}
	if len(t.ones) == 0 {
		if t.r.cpus == 0 {
			p.note(0, "how many CPUs there are is unknown: the first line of it (Linux ... CPU) is missing")
		}
		return
	}
	name, v := largest(t.ones)
	p.say("the busiest CPU is %s: up to %.0f %%", name, v)
	for i := range p.Rows {
		p.Rows[i].Values = slices.DeleteFunc(p.Rows[i].Values, func(v Value) bool { return v.Series.Get("cpu") == "all" })
	}
	t.r.cpus = max(t.r.cpus, float64(len(t.ones)))
}
