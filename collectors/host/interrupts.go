package host

import (
	"bytes"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// perCPU reads a file with a column for each CPU and a row for each type, and
// gives the sums of the rows: /proc/interrupts and /proc/softirqs.
type perCPU struct {
	file
	source string
	metric string
	merge  bool // rows that are numbers are one type, "device"
	header []byte
	rows   map[string]*irqRow
	device irqRow
}

// irqRow is one type. The kernel shows a column only for a CPU that is online,
// a row only for an interrupt in use, and both wrap at 32 bits: the sum can
// fall, or jump, without any interrupt. So where the set of columns changes or
// the sum falls, the series goes on from where it was.
type irqRow struct {
	series *model.Series
	last   float64 // the sum as read
	offset float64 // series = sum + offset
	seen   bool
}

func newInterrupts() *perCPU {
	return &perCPU{
		file: file{name: "proc/interrupts"}, source: "interrupts", metric: "node_interrupts_total", merge: true,
		rows:   map[string]*irqRow{},
		device: irqRow{series: model.NewSeries("node_interrupts_total", "type", "device")},
	}
}

func newSoftirqs() *perCPU {
	return &perCPU{
		file: file{name: "proc/softirqs"}, source: "softirqs", metric: "node_softirqs_functions_total",
		rows: map[string]*irqRow{},
	}
}

// Name implements [collectors.Source].
func (p *perCPU) Name() string { return p.source }

// Provides implements [collectors.Source].
func (p *perCPU) Provides() []string { return []string{p.metric} }

// Collect implements [collectors.Source].
func (p *perCPU) Collect(root collectors.Root, out *collectors.Out) error {
	data, err := p.read(root)
	if err != nil {
		return err
	}
	l := readLines(p.name, data)
	header, _ := l.next()
	cpus := countFields(header)
	if cpus == 0 {
		l.fault("a heading with the CPUs")
		return l.err(false)
	}
	moved := !bytes.Equal(header, p.header)
	p.header = append(p.header[:0], header...)
	device, devices := 0.0, false
	for line, ok := l.next(); ok; line, ok = l.next() {
		name, sum, ok := parseIRQ(line, cpus)
		if !ok {
			l.fault("a type with a colon and a number for each CPU")
			continue
		}
		if _, number := parseUint(name); number && p.merge {
			device, devices = device+sum, true
			continue
		}
		if row := p.row(name, line); row != nil {
			row.add(out, sum, moved)
		}
	}
	if devices {
		p.device.add(out, device, moved)
	}
	return l.err(len(out.Samples()) > 0)
}

// row gives the row of a type; nil for a name of another form.
func (p *perCPU) row(name, line []byte) *irqRow {
	row := p.rows[string(name)]
	if row == nil && isName(name) && len(p.rows) < maxKeys {
		row = &irqRow{series: model.NewSeries(p.metric, "type", irqType(name, line))}
		p.rows[string(name)] = row
	}
	return row
}

// irqType is the row's name; arm64 numbers what x86 names (IPI0, IPI1 ...) and
// says the same in words.
func irqType(name, line []byte) string {
	if bytes.HasPrefix(name, []byte("IPI")) {
		switch {
		case bytes.HasSuffix(line, []byte("Rescheduling interrupts")):
			return "RES"
		case bytes.HasSuffix(line, []byte("Function call interrupts")):
			return "CAL"
		}
	}
	return string(name)
}

func (r *irqRow) add(out *collectors.Out, sum float64, moved bool) {
	if r.seen && (moved || sum < r.last) {
		r.offset += r.last - sum
	}
	r.last, r.seen = sum, true
	out.Add(r.series, sum+r.offset)
}

// parseIRQ sums the numbers of a row, at most one a CPU. Rows such as ERR have
// one for all.
func parseIRQ(line []byte, cpus int) (name []byte, sum float64, ok bool) {
	colon := bytes.IndexByte(line, ':')
	if colon < 0 {
		return nil, 0, false
	}
	name, after := cutField(line[:colon])
	if len(name) == 0 || len(after) > 0 {
		return nil, 0, false
	}
	var total uint64
	rest, n := line[colon+1:], 0
	for ; n < cpus; n++ {
		v, next, isNumber := cutUint(rest)
		if !isNumber {
			break
		}
		total, rest = total+v, next
	}
	return name, float64(total), n > 0
}

// countFields counts the words of a line.
func countFields(line []byte) int {
	n := 0
	for field, rest := cutField(line); len(field) > 0; field, rest = cutField(rest) {
		n++
	}
	return n
}
