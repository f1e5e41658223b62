package chart

import (
	"math"
	"strconv"
	"time"

	"stallmark/web/format"
)

// YTick is a grid line with its label.
type YTick struct {
	Y     string // CSS pixels from the top
	TextY string
	Text  string
}

// yTicks chooses three to five even values from bottom to top and moves top up
// to hold them.
func yTicks(f frame, s format.Scale, whole bool) []YTick {
	span := (f.top - f.bottom) / s.Div
	step := niceStep(span/3, s.Binary)
	if whole && s.Div == 1 {
		step = max(step, 1)
	}
	var all []YTick
	for v := math.Ceil(f.bottom/s.Div/step) * step; v <= f.top/s.Div*1.0001; v += step {
		y := f.y(v * s.Div)
		all = append(all, YTick{px(y), px(y + 4), s.Number(v * s.Div)})
	}
	return all
}

// niceStep is the smallest even number not under v: 1, 2, 5 times a power of
// ten, or a power of two.
func niceStep(v float64, binary bool) float64 {
	if v <= 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 1
	}
	if binary && v > 1 {
		return math.Pow(2, math.Ceil(math.Log2(v)-1e-9))
	}
	pow := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if v <= m*pow*1.0001 {
			return m * pow
		}
	}
	return 10 * pow
}

// XTick is a label of the time axis. Ms lets a script show it in local time.
type XTick struct {
	X      string // percent
	Anchor string // start, middle or end
	Text   string
	Ms     string
	Format string // clock, minute or day: how Text was made
	Minor  bool   // left out where there is little room
}

func timeSteps() []time.Duration {
	const m, h, d = time.Minute, time.Hour, 24 * time.Hour
	return []time.Duration{
		time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
		m, 2 * m, 5 * m, 10 * m, 15 * m, 30 * m, h, 2 * h, 3 * h, 6 * h, 12 * h, d, 2 * d, 7 * d,
	}
}

// xTicks labels [from, to] at even UTC times with at most n labels; every other
// one is minor when minors is set. A label centred near the left edge reaches out
// over the axis; when inside is set it begins at the edge, or is minor beside it.
func xTicks(from, to time.Time, n int, minors, inside bool) []XTick {
	span := to.Sub(from)
	if span <= 0 || n < 1 {
		return nil
	}
	step := tickStep(span, n)
	if step < time.Minute { // seconds need more room
		step = tickStep(span, max(n*4/5, 1))
	}
	var all []XTick
	for t := from.Truncate(step); !t.After(to); t = t.Add(step) {
		rel := float64(t.Sub(from)) / float64(span)
		name, text := tickText(t, step)
		if rel < 0 || outside(rel, text) {
			continue
		}
		anchor := "middle"
		if inside && rel < 0.01 {
			anchor = "start"
		}
		beside := inside && anchor == "middle" && rel*narrow < float64(len(text))*letter/2
		all = append(all, XTick{
			X: percent(rel), Anchor: anchor, Text: text, Format: name,
			Ms:    strconv.FormatInt(t.UnixMilli(), 10),
			Minor: beside || minors && (t.Unix()/max(int64(step.Seconds()), 1))%2 != 0,
		})
	}
	return all
}

// tickStep is the smallest even step that makes at most n labels.
func tickStep(span time.Duration, n int) time.Duration {
	steps := timeSteps()
	for _, s := range steps {
		if span/s <= time.Duration(n) {
			return s
		}
	}
	return steps[len(steps)-1]
}

// narrow is the width of a chart on a phone, in CSS pixels.
const narrow = 300

// outside reports whether a centred label would reach out of the drawing at the
// right, on a narrow chart.
func outside(rel float64, text string) bool {
	const margin = 12
	return (1-rel)*narrow+margin < float64(len(text))*letter/2
}

func tickText(t time.Time, step time.Duration) (name, text string) {
	t = t.UTC()
	switch {
	case step < time.Minute:
		return "clock", t.Format("15:04:05")
	case step < 24*time.Hour && (step < 6*time.Hour || t.Hour() != 0):
		return "minute", t.Format("15:04")
	}
	return "day", t.Format("01-02")
}

// percent writes a share of 1 as an SVG percentage.
func percent(rel float64) string {
	return strconv.FormatFloat(min(max(rel, 0), 1)*100, 'f', 3, 64) + "%"
}

func px(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }
