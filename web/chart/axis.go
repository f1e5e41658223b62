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
// one is minor when minors is set.
func xTicks(from, to time.Time, n int, minors bool) []XTick {
	span := to.Sub(from)
	if span <= 0 || n < 1 {
		return nil
	}
	steps := timeSteps()
	step := steps[len(steps)-1]
	for _, s := range steps {
		if span/s <= time.Duration(n) {
			step = s
			break
		}
	}
	var all []XTick
	for t := from.Truncate(step).Add(step); !t.After(to); t = t.Add(step) {
		rel := float64(t.Sub(from)) / float64(span)
		name, text := tickText(t, step)
		all = append(all, XTick{
			X: percent(rel), Anchor: anchor(rel), Text: text, Format: name,
			Ms:    strconv.FormatInt(t.UnixMilli(), 10),
			Minor: minors && (t.Unix()/max(int64(step.Seconds()), 1))%2 != 0,
		})
	}
	return all
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

// anchor keeps labels near the edges inside the drawing.
func anchor(rel float64) string {
	switch {
	case rel < 0.06:
		return "start"
	case rel > 0.94:
		return "end"
	}
	return "middle"
}

// percent writes a share of 1 as an SVG percentage.
func percent(rel float64) string {
	return strconv.FormatFloat(min(max(rel, 0), 1)*100, 'f', 3, 64) + "%"
}

func px(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }
