package host

import (
	"bytes"
	"strconv"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// maxOrders bounds the columns of /proc/buddyinfo; kernels have 11 or so.
const maxOrders = 64

// buddyinfo reads the free blocks of each order, 2^order pages.
type buddyinfo struct {
	file
	zones map[string][]*model.Series // by the heading of the line
}

func newBuddyinfo() *buddyinfo {
	return &buddyinfo{file: file{name: "proc/buddyinfo"}, zones: map[string][]*model.Series{}}
}

// Name implements [collectors.Source].
func (*buddyinfo) Name() string { return "buddyinfo" }

// Provides implements [collectors.Source].
func (*buddyinfo) Provides() []string { return []string{"node_buddyinfo_"} }

// Collect implements [collectors.Source].
func (b *buddyinfo) Collect(root collectors.Root, out *collectors.Out) error {
	data, err := b.read(root)
	if err != nil {
		return err
	}
	l := readLines(b.name, data)
	for line, ok := l.next(); ok; line, ok = l.next() {
		heading, rest := cutHeading(line)
		series := b.zones[string(heading)]
		if series == nil {
			if series = b.learn(heading); series == nil {
				l.fault("Node, its number, zone and its name")
				continue
			}
		}
		if !addOrders(out, series, rest) {
			l.fault("a number for each order")
		}
	}
	return l.err(len(out.Samples()) > 0)
}

// addOrders puts the columns of a line. It reports false for one that is no
// number.
func addOrders(out *collectors.Out, series []*model.Series, rest []byte) bool {
	var field []byte
	for _, s := range series {
		if field, rest = cutField(rest); len(field) == 0 {
			return true
		}
		v, ok := parseUint(field)
		if !ok {
			return false
		}
		out.Add(s, float64(v))
	}
	return true
}

// cutHeading cuts "Node 0, zone   Normal" off a line.
func cutHeading(line []byte) (heading, rest []byte) {
	i := bytes.Index(line, []byte(" zone "))
	if i < 0 {
		return nil, nil
	}
	_, rest = cutField(line[i+len(" zone "):])
	return line[:len(line)-len(rest)], rest
}

// learn makes the series of a zone; nil for a heading of another form.
func (b *buddyinfo) learn(heading []byte) []*model.Series {
	node, zone, _, ok := parseZone(heading)
	if !ok || len(b.zones) >= maxKeys {
		return nil
	}
	series := make([]*model.Series, maxOrders)
	for order := range series {
		series[order] = model.NewSeries("node_buddyinfo_blocks",
			"node", node, "zone", zone, "size", strconv.Itoa(order))
	}
	b.zones[string(heading)] = series
	return series
}
