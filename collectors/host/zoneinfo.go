package host

import (
	"bytes"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// zoneFields are the lines of a zone in /proc/zoneinfo that become series, in
// pages. "pages free" is the first; what it is in words stands in
// mm/vmstat.c, zoneinfo_show_print.
var zoneFields = [...]struct{ key, metric string }{
	{"free", "node_zoneinfo_nr_free_pages"},
	{"min", "node_zoneinfo_min_pages"},
	{"low", "node_zoneinfo_low_pages"},
	{"high", "node_zoneinfo_high_pages"},
	{"spanned", "node_zoneinfo_spanned_pages"},
	{"present", "node_zoneinfo_present_pages"},
	{"managed", "node_zoneinfo_managed_pages"}, // from 3.9 on
}

const zonePresent = 5 // index in zoneFields

// zoneinfo reads the watermarks and free pages of the populated zones.
type zoneinfo struct {
	file
	zones map[string]*zone // by the text of the heading
}

type zone struct {
	series [len(zoneFields)]*model.Series
	vals   [len(zoneFields)]uint64
	have   [len(zoneFields)]bool
}

func newZoneinfo() *zoneinfo {
	return &zoneinfo{file: file{name: "proc/zoneinfo"}, zones: map[string]*zone{}}
}

// Name implements [collectors.Source].
func (*zoneinfo) Name() string { return "zoneinfo" }

// Provides implements [collectors.Source].
func (*zoneinfo) Provides() []string { return []string{"node_zoneinfo_"} }

// Collect implements [collectors.Source].
func (z *zoneinfo) Collect(root collectors.Root, out *collectors.Out) error {
	data, err := z.read(root)
	if err != nil {
		return err
	}
	l := readLines(z.name, data)
	var current *zone
	for line, ok := l.next(); ok; line, ok = l.next() {
		if bytes.HasPrefix(line, []byte("Node ")) {
			current.add(out)
			if current = z.zone(line); current == nil {
				l.fault("Node, its number, zone and its name")
			}
			continue
		}
		if current != nil && !current.take(line) {
			l.fault("a number of pages")
		}
	}
	current.add(out)
	return l.err(len(out.Samples()) > 0)
}

// zone gives the zone of a heading, emptied; nil for a heading of another form.
func (z *zoneinfo) zone(heading []byte) *zone {
	if known := z.zones[string(heading)]; known != nil {
		known.have = [len(zoneFields)]bool{}
		return known
	}
	node, name, _, ok := parseZone(heading)
	if !ok || len(z.zones) >= maxKeys {
		return nil
	}
	made := &zone{}
	for i, f := range zoneFields {
		made.series[i] = model.NewSeries(f.metric, "node", node, "zone", name)
	}
	z.zones[string(heading)] = made
	return made
}

// take keeps the number of a line if it is one of zoneFields. It reports
// false for one of these without a number.
func (z *zone) take(line []byte) bool {
	key, rest := cutField(line)
	if string(key) == "pages" { // "pages free 3840"
		key, rest = cutField(rest)
	}
	for i := range zoneFields {
		if string(key) != zoneFields[i].key {
			continue
		}
		if z.have[i] {
			return true
		}
		z.vals[i], _, z.have[i] = cutUint(rest)
		return z.have[i]
	}
	return true
}

// add puts the numbers of a zone that has pages.
func (z *zone) add(out *collectors.Out) {
	if z == nil || z.vals[zonePresent] == 0 || !z.have[zonePresent] {
		return
	}
	for i, have := range z.have {
		if have {
			out.Add(z.series[i], float64(z.vals[i]))
		}
	}
}

// parseZone reads "Node 0, zone   Normal" and gives what follows it.
func parseZone(line []byte) (node, name string, rest []byte, ok bool) {
	word, rest := cutField(line)
	number, rest := cutField(rest)
	zoneWord, rest := cutField(rest)
	zoneName, rest := cutField(rest)
	number, comma := bytes.CutSuffix(number, []byte(","))
	if _, isNumber := parseUint(number); !isNumber || !comma {
		return "", "", nil, false
	}
	if string(word) != "Node" || string(zoneWord) != "zone" || !isName(zoneName) {
		return "", "", nil, false
	}
	return string(number), string(zoneName), rest, true
}
