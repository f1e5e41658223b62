package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"stallmark/web/format"
)

func at(s int) time.Time { return time.Date(2026, 3, 1, 3, 0, s, 0, time.UTC) }

func points(step int, values ...float64) []Point {
	var out []Point
	for i, v := range values {
		out = append(out, Point{at(i * step).UnixMilli(), v})
	}
	return out
}

func TestRunsBreakAtGaps(t *testing.T) {
	nan := math.NaN()
	p := points(1, 1, 2, nan, 4, 5, 6, math.Inf(1), 8)
	p = append(p[:4], p[5:]...) // one step is missing
	var got []string
	for _, run := range runs(p, time.Second) {
		text := ""
		for _, q := range run {
			text += strconv.FormatFloat(q.V, 'g', -1, 64)
		}
		got = append(got, text)
	}
	if want := "12 4 6 8"; strings.Join(got, " ") != want {
		t.Errorf("runs are %q, want %q", got, want)
	}
	if len(runs(nil, time.Second)) != 0 || len(runs(points(1, nan, nan), time.Second)) != 0 {
		t.Error("runs of nothing")
	}
}

func TestEnvelopeKeepsASpike(t *testing.T) {
	var p []Point
	week := 7 * 24 * 3600
	for i := 0; i < week; i += 10 {
		v := 1.0
		if i == 300_000 || i == 400_000 {
			v = 100
		}
		if i == 350_000 {
			v = -50
		}
		p = append(p, Point{at(i).UnixMilli(), v})
	}
	cols := columns(p, frame{from: at(0).UnixMilli(), to: at(week).UnixMilli(), top: 100}, Columns)
	if len(cols) > Columns+1 {
		t.Fatalf("%d columns", len(cols))
	}
	low, high := 0, 0
	for _, c := range cols {
		if c.max == 100 {
			high++
		}
		if c.min == -50 {
			low++
		}
	}
	if high != 2 || low != 1 {
		t.Errorf("of two spikes up and one down, %d and %d are drawn", high, low)
	}
}

func TestSparseRunsKeepEveryPoint(t *testing.T) {
	cols := columns(points(1, 5, 1, 7, 2), frame{from: at(0).UnixMilli(), to: at(60).UnixMilli(), top: 7}, Columns)
	if len(cols) != 4 || cols[2].max != 7 || cols[2].min != 7 {
		t.Errorf("columns are %v", cols)
	}
}

func base(series ...Series) Chart {
	return Chart{ID: "c", Title: "Dirty", Unit: "bytes", From: at(0), To: at(60), Step: time.Second, Live: true, Series: series}
}

func TestGapIsAGapInTheDrawing(t *testing.T) {
	p := points(1, 1, 1, 1, math.NaN(), 1, 1)
	fig := Lay(base(Series{Points: p}))
	if n := strings.Count(fig.Lines[0].Line, "M"); n != 2 {
		t.Errorf("%d strokes, want 2: %s", n, fig.Lines[0].Line)
	}
	if fig.Lines[0].Values != "1*3,,1*2,*55" {
		t.Errorf("values are %q", fig.Lines[0].Values)
	}
}

func TestAbsentIsNotZero(t *testing.T) {
	fig := Lay(base())
	if fig.Empty != "no data in this window" || fig.Value != "–" || len(fig.YTicks) != 0 {
		t.Errorf("an empty chart is %+v", fig)
	}
	stale := Lay(base(Series{Name: "x", Points: points(1, 3, 3, 3)})) // ends 58 s before the window
	if stale.Value != "–" {
		t.Errorf("a series that has ended has the present value %q", stale.Value)
	}
	if past := base(Series{Points: points(1, 3, 9, 3)}); true {
		past.Live = false
		if v := Lay(past).Value; v != "max 9\u00a0B" {
			t.Errorf("a past window says %q", v)
		}
	}
}

func TestLimits(t *testing.T) {
	c := base(Series{Points: points(10, 10, 20, 30, 40, 50, 60, 70)})
	c.Limits = []Limit{{Name: "near", Value: 100}, {Name: "far", Value: 1000}, {Name: "ground", Value: 0}, {Name: "moving", Points: points(10, 30, 30, 30, 30, 90, 90, 90)}}
	fig := Lay(c)
	if len(fig.Limits) != 2 || fig.Limits[0].Name != "near" || fig.Limits[1].Name != "moving" {
		t.Errorf("limits are %+v", fig.Limits)
	}
	if got, want := labels(fig), "near 100\u00a0B|↑ far 1,000\u00a0B|moving 90\u00a0B"; got != want {
		t.Errorf("labels are %q, want %q", got, want)
	}
}

func labels(fig Figure) string {
	var all []string
	for _, l := range fig.Labels {
		all = append(all, l.Text)
	}
	return strings.Join(all, "|")
}

// TestLimitIsLabelledWhereItFired: a limit that was low while something fired
// and is far beyond the scale after it shows the low value.
func TestLimitIsLabelledWhereItFired(t *testing.T) {
	var level, limit []float64
	for i := range 61 {
		level = append(level, 40+float64(i%3)*5)
		limit = append(limit, map[bool]float64{true: 48, false: 3300}[i >= 20 && i < 40])
	}
	c := base(Series{Points: points(1, level...)})
	c.Limits = []Limit{{Name: "threshold", Points: points(1, limit...)}}
	c.Fired = []Span{{at(20), at(40)}}
	fig := Lay(c)
	if got := labels(fig); got != "┄ threshold 48\u00a0B" { // over the plot: here the line fills it
		t.Errorf("the label is %q", got)
	}
	if line := fig.Limits[0].Line; !strings.HasPrefix(line, "M333 ") || !strings.HasSuffix(line, "h317") {
		t.Errorf("the limit is drawn beyond the scale: %s", line)
	}
	c.Limits[0].Points = points(1, limit[:20]...)
	if got := labels(Lay(c)); got != "↑ threshold 3.22\u00a0KiB" {
		t.Errorf("the label of a limit beyond the scale is %q", got)
	}
}

func TestLabelsKeepClear(t *testing.T) {
	high := make([]float64, 61)
	for i := range high {
		high[i] = 80 + float64(i%5)*5
		if i < 25 {
			high[i] = 5
		}
	}
	c := base(Series{Points: points(1, high...)})
	c.Limits = []Limit{{Name: "threshold", Value: 95}, {Name: "other", Value: 93}}
	fig := Lay(c)
	if fig.Labels[0].Anchor != "start" {
		t.Errorf("a limit that the line covers at the right is labelled there: %+v", fig.Labels)
	}
	if a, b := fig.Labels[0], fig.Labels[1]; a.X == b.X && a.Y == b.Y {
		t.Errorf("two labels lie on each other: %+v", fig.Labels)
	}
}

func TestPaths(t *testing.T) {
	var p path
	p.move(0, 10)
	for _, q := range [][2]float64{{3, 10}, {6, 10}, {9, 8.5}, {12, 9}, {15, 9}} {
		p.line(q[0], q[1])
	}
	p.close()
	if got, want := p.String(), "M0 20h6l3-3 3 1h3Z"; got != want {
		t.Errorf("path is %q, want %q", got, want)
	}
}

func TestValuesAreCounted(t *testing.T) {
	c := base()
	c.To = at(9)
	got := values(points(1, 1, 0, 0, 0, math.NaN(), math.NaN(), 1234, 5), c, format.Scale{Div: 1})
	if want := "1,0*3,*2,1234,5,*2"; got != want {
		t.Errorf("values are %q, want %q", got, want)
	}
}

func TestShortTitles(t *testing.T) {
	for long, want := range map[string]string{
		"Dirty and writeback pages against the point where pausing starts":       "Dirty and writeback pages",
		"Time in which some task waited for I/O (a pause counts as I/O)":         "Time in which some task waited for I/O",
		"Pausing limit as a share of what it was at its highest in five minutes": "Pausing limit",
		"Read, written": "Read, written",
		"Requests in flight besides writeback and pages read again": "Requests in flight besides writeback and pages read again",
	} {
		if got := ShortTitle(long); got != want {
			t.Errorf("%q is shortened to %q, want %q", long, got, want)
		}
	}
}

// TestTimeLabelsKeepApart holds neighbours on the narrowest chart of a laptop
// away from each other.
func TestTimeLabelsKeepApart(t *testing.T) {
	const width, letter = 270, 6.2
	for span := 5 * time.Second; span < 8*24*time.Hour; span = span*9/8 + time.Second {
		for shift := time.Duration(0); shift < span; shift += span / 7 {
			end := math.Inf(-1)
			for _, tick := range xTicks(at(0).Add(shift), at(0).Add(shift+span), 5, false, false) {
				x, err := strconv.ParseFloat(strings.TrimSuffix(tick.X, "%"), 64)
				if err != nil {
					t.Fatal(err)
				}
				half := float64(len(tick.Text)) * letter / 2
				left := x/100*width - map[string]float64{"start": 0, "middle": half, "end": 2 * half}[tick.Anchor]
				if left < end+4 {
					t.Fatalf("labels of %v at %v touch at %s", span, shift, tick.Text)
				}
				if end = left + 2*half; end > width+20 {
					t.Fatalf("the label %s of %v at %v ends %.0f px beyond the chart", tick.Text, span, shift, end-width)
				}
			}
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		top   float64
		unit  string
		want  string
		whole bool
	}{
		{58 << 20, "bytes", "0 32", false},
		{4.4 * (1 << 30), "bytes", "0 2 4", false},
		{100, "percent", "0 50 100", false},
		{0.0021, "seconds", "0 1 2", false},
		{1, "count", "0 1", true},
		{2.3, "count", "0 1 2", true},
		{853, "per_second", "0 500", false},
	} {
		f := frame{to: 1, top: c.top}
		var got []string
		for _, tick := range yTicks(f, format.ScaleFor(c.top, c.unit), c.whole) {
			got = append(got, tick.Text)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("ticks up to %v %s are %q, want %q", c.top, c.unit, got, c.want)
		}
	}
	for span, want := range map[time.Duration]string{
		time.Minute: "03:00:00", 15 * time.Minute: "03:00", 6 * time.Hour: "04:00", 24 * time.Hour: "06:00", 7 * 24 * time.Hour: "03-02",
	} {
		ticks := xTicks(at(0), at(0).Add(span), 5, false, false)
		if len(ticks) == 0 || len(ticks) > 6 || ticks[0].Text != want {
			t.Errorf("over %v: %+v, want %s first", span, ticks, want)
		}
	}
}

func TestSpansAndMarks(t *testing.T) {
	c := base(Series{Points: points(1, 1)})
	c.Fired = []Span{{at(-30), at(-10)}, {at(-5), at(15)}, {at(30), at(30)}, {at(45), at(900)}, {at(70), at(80)}}
	c.Marks = []Mark{{at(-5), "before"}, {at(30), "one"}, {at(30), "two"}, {at(50), "three"}, {at(90), "after"}}
	fig := Lay(c)
	var got []string
	for _, b := range fig.Bands {
		got = append(got, b.X+"+"+b.W)
	}
	if want := "0.000%+25.000% 50.000%+0.300% 75.000%+25.000%"; strings.Join(got, " ") != want {
		t.Errorf("bands are %q", got)
	}
	if len(fig.Marks) != 2 || fig.Marks[0].Text != "one (+1)" || fig.Marks[1].Text != "three" || fig.Marks[1].Anchor != "end" {
		t.Errorf("marks are %+v", fig.Marks)
	}
	for _, want := range []string{"Dirty from 2026-03-01 03:00:00 to 2026-03-01 03:01:00 UTC", "Shaded from 03:00:45", "At 03:00:30: one"} {
		if !strings.Contains(fig.Summary, want) {
			t.Errorf("the summary does not say %q: %s", want, fig.Summary)
		}
	}
}

func TestDrawIsWellFormed(t *testing.T) {
	c := base(Series{Name: `<&">`, Points: points(1, 1, 2, 3)}, Series{Name: "b", Points: points(1, 0)})
	c.Title, c.Note = `</svg><script>`, "\x00"
	var buf bytes.Buffer
	if err := Draw(Lay(c)).Render(t.Context(), &buf); err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(strings.NewReader(strings.ReplaceAll(buf.String(), "\x00", "")))
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in %s", err, buf.String())
		}
		if s, ok := tok.(xml.StartElement); ok && s.Name.Local == "script" {
			t.Error("a title became an element")
		}
	}
}

func TestLanes(t *testing.T) {
	l := LayLanes([]Lane{{
		Name: "x", State: "firing", Bars: []Bar{{From: at(10), To: at(20)}},
		Ticks: []Tick{{at(10), "a", 3}, {at(10), "b", 0}, {at(10), "c", 0}, {at(11), "a", 0}, {at(-4), "a", 0}, {at(99), "a", 0}},
	}, {Name: "y", State: "unknown", Why: "no PSI"}}, nil, at(0), at(60))
	if len(l.Tracks[0].Boxes) != 1 || len(l.Tracks[0].Ticks) != 2 {
		t.Errorf("track is %+v", l.Tracks[0])
	}
	if got := l.Tracks[0].Ticks[0].Title; got != format.Clock(at(10))+": 3 × a, b, 1 more" {
		t.Errorf("a tick says %q", got)
	}
	if l.Tracks[0].Text != "x: firing, fired once, 8 events" || l.Tracks[1].Text != "y: unknown, no PSI" {
		t.Errorf("in words: %q, %q", l.Tracks[0].Text, l.Tracks[1].Text)
	}
}

// FuzzLay draws anything without a panic and without a number that SVG does
// not know.
func FuzzLay(f *testing.F) {
	f.Add(int64(0), int64(60), int64(1000), 1.0, 2.0, math.NaN(), 5.0, "bytes")
	f.Add(int64(60), int64(0), int64(0), -1e300, math.Inf(1), 1e300, math.Inf(-1), "count")
	f.Add(int64(-5), int64(1<<40), int64(-7), 0.0, 1e-320, -1e-320, 0.0, "no such unit")
	f.Fuzz(func(t *testing.T, from, to, step int64, a, b, c, limit float64, unit string) {
		from, to = from%(1<<33), to%(1<<33)
		ch := Chart{
			ID: "x", Unit: unit, From: time.Unix(from, 0), To: time.Unix(to, 0), Step: time.Duration(step),
			Series: []Series{{Points: []Point{{from * 1000, a}, {from*1000 + 1, b}, {to * 1000, c}}}},
			Limits: []Limit{{Value: limit}, {Points: []Point{{from * 1000, limit}}}},
			Fired:  []Span{{time.Unix(from, 0), time.Unix(to, 0)}}, Marks: []Mark{{At: time.Unix(to, 0)}},
		}
		var buf bytes.Buffer
		if err := Draw(Lay(ch)).Render(t.Context(), &buf); err != nil {
			t.Fatal(err)
		}
		for _, path := range append(Lay(ch).Lines, Lay(ch).Limits...) {
			if strings.ContainsAny(path.Line+path.Area+path.Band, "NaIfe+") {
				t.Fatalf("path %q", path.Line)
			}
		}
	})
}
