package web

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"stallmark/storage/model"
	"stallmark/web/chart"
	"stallmark/web/format"
	"stallmark/web/view"
)

// diskData is a disk in the JSON. A value is null where nothing was measured:
// a device without writes has no write await.
type diskData struct {
	Device     string   `json:"device"`
	Kind       string   `json:"kind"`
	Backing    string   `json:"backing,omitempty"`
	Mounts     []string `json:"mounts"`
	Stores     []string `json:"stores"`
	About      string   `json:"about,omitempty"`
	ReadOps    *float64 `json:"reads_per_second"`
	WriteOps   *float64 `json:"writes_per_second"`
	ReadBytes  *float64 `json:"read_bytes_per_second"`
	WriteBytes *float64 `json:"written_bytes_per_second"`
	ReadAwait  *float64 `json:"read_await_seconds"`
	WriteAwait *float64 `json:"write_await_seconds"`
	ReadSize   *float64 `json:"read_request_bytes"`
	WriteSize  *float64 `json:"write_request_bytes"`
	Queue      *float64 `json:"average_queue"`
	Busy       *float64 `json:"busy_ratio"` // share of time with a request under way; not saturation

	readTime, writeTime *float64
}

// nowSpan is what the numbers of a live page are a mean of.
const nowSpan = 10 * time.Second

// diskSpan is what the numbers are a mean of: the last seconds of a live
// window, the whole of a fixed one.
func (s *server) diskSpan(w view.Window) time.Duration {
	if w.Live {
		return max(nowSpan, 3*s.cfg.Interval)
	}
	return w.To.Sub(w.From)
}

// diskRows measures all devices.
func (s *server) diskRows(ctx context.Context, w view.Window) ([]*diskData, error) {
	rows := map[string]*diskData{}
	span := s.diskSpan(w).String()
	for _, m := range []struct {
		counter string
		into    func(*diskData) **float64
	}{
		{"reads_completed_total", func(d *diskData) **float64 { return &d.ReadOps }},
		{"writes_completed_total", func(d *diskData) **float64 { return &d.WriteOps }},
		{"read_bytes_total", func(d *diskData) **float64 { return &d.ReadBytes }},
		{"written_bytes_total", func(d *diskData) **float64 { return &d.WriteBytes }},
		{"read_time_seconds_total", func(d *diskData) **float64 { return &d.readTime }},
		{"write_time_seconds_total", func(d *diskData) **float64 { return &d.writeTime }},
		{"io_time_weighted_seconds_total", func(d *diskData) **float64 { return &d.Queue }},
		{"io_time_seconds_total", func(d *diskData) **float64 { return &d.Busy }},
	} {
		v, err := s.cfg.Backend.Instant(ctx, "rate(node_disk_"+m.counter+"["+span+"])", w.To)
		if err != nil {
			return nil, err
		}
		for _, sample := range v {
			name := sample.Metric.Get("device")
			if rows[name] == nil {
				rows[name] = &diskData{Device: name, Kind: "disk", Mounts: []string{}, Stores: []string{}}
			}
			value := sample.F
			*m.into(rows[name]) = &value
		}
	}
	if err := s.describe(ctx, rows, w); err != nil {
		return nil, err
	}
	out := make([]*diskData, 0, len(rows))
	for _, d := range rows {
		d.ReadAwait, d.WriteAwait = ratio(d.readTime, d.ReadOps), ratio(d.writeTime, d.WriteOps)
		d.ReadSize, d.WriteSize = ratio(d.ReadBytes, d.ReadOps), ratio(d.WriteBytes, d.WriteOps)
		out = append(out, d)
	}
	slices.SortFunc(out, byLoad)
	return out, nil
}

// ratio is a over b, nil where it means nothing.
func ratio(a, b *float64) *float64 {
	if a == nil || b == nil || *b <= 0 {
		return nil
	}
	r := *a / *b
	return &r
}

// byLoad puts devices with a broker's store first, then the longest queue.
func byLoad(a, b *diskData) int {
	if d := len(b.Stores) - len(a.Stores); d != 0 {
		return d
	}
	if d := cmp.Compare(orNaN(b.Queue), orNaN(a.Queue)); d != 0 {
		return d
	}
	return cmp.Compare(a.Device, b.Device)
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// describe adds what the devices are: kind, backing, mounts, the stores on them.
func (s *server) describe(ctx context.Context, rows map[string]*diskData, w view.Window) error {
	info, err := s.cfg.Backend.Instant(ctx, "stallmark_disk_info", w.To)
	if err != nil {
		return err
	}
	for _, sample := range info {
		if d := rows[sample.Metric.Get("device")]; d != nil {
			d.Kind, d.Backing = cmp.Or(sample.Metric.Get("kind"), d.Kind), sample.Metric.Get("backing")
			if m := sample.Metric.Get("mount"); m != "" {
				d.Mounts = append(d.Mounts, m)
			}
		}
	}
	facts, err := s.cfg.Backend.FactsAt(ctx, w.To)
	if err != nil {
		return err
	}
	for key, f := range facts {
		rest, isBlock := strings.CutPrefix(key, "block.")
		if i := strings.LastIndex(rest, "."); isBlock && i > 0 && rows[rest[:i]] != nil {
			blockFact(rows[rest[:i]], rest[i+1:], f.Value, facts)
		}
		if pid, ok := strings.CutSuffix(strings.TrimPrefix(key, "process."), ".store_device"); ok && rows[f.Value] != nil {
			name := cmp.Or(facts["process."+pid+".name"].Value, "pid "+pid)
			markStore(rows, f.Value, name)
		}
	}
	for _, d := range rows {
		slices.Sort(d.Stores)
		d.Stores = slices.Compact(d.Stores)
	}
	return nil
}

func blockFact(d *diskData, key, value string, facts map[string]model.Fact) {
	switch key {
	case "mounts":
		d.Mounts = strings.FieldsFunc(value, func(r rune) bool { return r == ',' })
	case "model":
		scheduler := facts["block."+d.Device+".scheduler"].Value
		d.About = strings.Trim(strings.TrimSpace(value)+", "+scheduler, ", ")
	}
}

// markStore names the store on its device and on the physical ones below.
func markStore(rows map[string]*diskData, device, store string) {
	rows[device].Stores = append(rows[device].Stores, store)
	for backing := range strings.SplitSeq(rows[device].Backing, ",") {
		if d := rows[backing]; d != nil && backing != device {
			d.Stores = append(d.Stores, store)
		}
	}
}

func (s *server) disksJSON(r *http.Request, w view.Window) (any, error) {
	return s.diskRows(r.Context(), w)
}

func (s *server) disks(r *http.Request, w view.Window) (templ.Component, error) {
	rows, err := s.diskRows(r.Context(), w)
	if err != nil {
		return nil, err
	}
	page := view.Disks{Page: s.live(s.frame(r, w, "Disks"))}
	page.Timed, page.Twin = true, "/api/v1/disks"+w.Query()
	page.Span = "Means of the " + map[bool]string{true: "last ", false: ""}[w.Live] + format.Span(s.diskSpan(w))
	if !w.Live {
		page.Span += " shown"
	}
	if len(rows) == 0 {
		page.Missing = "No device has reported any I/O in this window."
	}
	for _, d := range rows {
		row := diskRow(d)
		switch {
		case !physical(d.Kind):
			page.Folded = append(page.Folded, row)
		case row.Active:
			page.Active = append(page.Active, row)
		case len(page.Idle) < maxIdle:
			page.Idle = append(page.Idle, row.Name)
		default:
			page.More++
		}
	}
	b, err := s.plainBackdrop(r.Context(), w, nil)
	if err != nil {
		return nil, err
	}
	page.Charts = s.diskCharts(r.Context(), rows, b)
	return view.DisksPage(page), nil
}

// maxIdle is how many idle disks are named.
const maxIdle = 200

// chartedDisks is how many devices the charts of the disk page show.
const chartedDisks = 4

// diskCharts draws the devices that lead the table.
func (s *server) diskCharts(ctx context.Context, rows []*diskData, b backdrop) []chart.Figure {
	var names []string
	for _, d := range rows {
		if physical(d.Kind) && len(names) < chartedDisks {
			names = append(names, d.Device)
		}
	}
	if len(names) == 0 {
		return nil
	}
	var out []chart.Figure
	for i, p := range diskPanels(matcher(names)) {
		out = append(out, s.draw(ctx, "disk-"+strconv.Itoa(i+1), p, b))
	}
	return out
}

func diskPanels(devices string) []panel {
	per := func(a, b string) string {
		return `rate(node_disk_` + a + `{` + devices + `}[3s]) / rate(node_disk_` + b + `{` + devices + `}[3s])`
	}
	rate := func(a string) string { return `rate(node_disk_` + a + `{` + devices + `}[3s])` }
	one := func(expr string) []line { return []line{{expr: expr, label: "device"}} }
	return []panel{
		{title: "Write await", unit: "seconds", lines: one(per("write_time_seconds_total", "writes_completed_total"))},
		{title: "Written", unit: "bytes/s", lines: one(rate("written_bytes_total"))},
		{title: "Requests under way (aqu-sz)", unit: "count", lines: one(rate("io_time_weighted_seconds_total"))},
		{title: "Read await", unit: "seconds", lines: one(per("read_time_seconds_total", "reads_completed_total"))},
		{title: "Read", unit: "bytes/s", lines: one(rate("read_bytes_total"))},
		{title: "Writes", unit: "per_second", lines: one(rate("writes_completed_total"))},
	}
}

func physical(kind string) bool { return kind == "disk" || kind == "nbd" || kind == "" }

func diskRow(d *diskData) view.Disk {
	cell := func(v *float64, scale float64, decimals int) string {
		return format.Fixed(orNaN(v)*scale, decimals)
	}
	row := view.Disk{
		Name: format.Clean(d.Device), Kind: format.Clean(d.Kind), Backing: format.Clean(d.Backing), About: format.Clean(d.About),
		ReadOps: cell(d.ReadOps, 1, 0), WriteOps: cell(d.WriteOps, 1, 0),
		ReadRate: cell(d.ReadBytes, 1.0/(1<<20), 1), WriteRate: cell(d.WriteBytes, 1.0/(1<<20), 1),
		ReadAwait: cell(d.ReadAwait, 1e3, 2), WriteAwait: cell(d.WriteAwait, 1e3, 2),
		ReadSize: cell(d.ReadSize, 1.0/1024, 1), WriteSize: cell(d.WriteSize, 1.0/1024, 1),
		Queue: cell(d.Queue, 1, 2), Util: cell(d.Busy, 100, 0),
		Active: len(d.Stores) > 0 || orNaN(d.ReadOps) > 0 || orNaN(d.WriteOps) > 0 || orNaN(d.Queue) > 0,
	}
	for _, m := range d.Mounts {
		row.Mounts = append(row.Mounts, format.Clean(m))
	}
	for _, m := range d.Stores {
		row.Stores = append(row.Stores, fmt.Sprintf("store of %s", format.Clean(m)))
	}
	return row
}
