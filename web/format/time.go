package format

import (
	"fmt"
	"time"
)

// Clock is the time of day in UTC: 03:12:41.
func Clock(t time.Time) string { return t.UTC().Format("15:04:05") }

// Stamp is date and time in UTC: 2026-03-01 03:12:41.
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

// ISO is the machine-readable time: RFC 3339, UTC, milliseconds.
func ISO(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// Span is a length of time in two units at most: 850 ms, 39 s, 2 min 08 s,
// 1 h 05 min, 3 d 4 h.
func Span(d time.Duration) string {
	switch {
	case d < 0:
		return "–" + Span(-d)
	case d < time.Second:
		return fmt.Sprintf("%d\u00a0ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%d\u00a0s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d\u00a0min\u00a0%02d\u00a0s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%d\u00a0h\u00a0%02d\u00a0min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d\u00a0d\u00a0%d\u00a0h", int(d.Hours())/24, int(d.Hours())%24)
}
