package pasted

import (
	"regexp"
	"strings"
	"time"
)

// Time stamps that stand on a line of their own, between reports: "date", the
// -t of iostat, and what collectors write.
var dateLayouts = []string{
	time.RFC3339Nano,
	"2006-01-02T15:04:05-0700",
	"2006-01-02T15:04:05",
	"2006-01-02 15:04:05 -0700",
	"2006-01-02 15:04:05",
	"Mon Jan _2 15:04:05 MST 2006",
	"Mon Jan _2 15:04:05 2006",
	"Mon Jan _2 03:04:05 PM MST 2006",
	"Mon _2 Jan 15:04:05 MST 2006",
	"Mon _2 Jan 2006 03:04:05 PM MST",
	"Mon _2 Jan 2006 15:04:05 MST",
	"01/02/2006 03:04:05 PM",
	"01/02/2006 15:04:05",
	"01/02/06 15:04:05",
	"01/02/06 03:04:05 PM",
}

var (
	framed  = regexp.MustCompile(`^(?:zzz \*{3}|[=#*\-+ ]+)?\s*(.*?)\s*[=#*\-+ ]*$`)
	counted = regexp.MustCompile(`^zzz <([^<>]+)>(?: \w+: ?[0-9]+)*$`) // ExaWatcher
)

// zonedLine reads a line that is nothing but a time. What it does not say about
// the zone is taken as the given one; doubtful is the name of a zone that does not
// tell which it is.
func zonedLine(text string, zone *time.Location) (at time.Time, doubtful string, ok bool) {
	text = strings.TrimSpace(text)
	if len(text) < 17 || len(text) > 64 {
		return time.Time{}, "", false
	}
	if m := counted.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	if m := framed.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	text = strings.TrimPrefix(text, "Time: ")
	for _, layout := range dateLayouts {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil && plausible(t) {
			at, doubtful = zoned(t, zone)
			return at, doubtful, true
		}
	}
	return time.Time{}, "", false
}

// dateLine reads a line that is nothing but a time and notes a doubtful zone.
func (r *reading) dateLine(text string) (time.Time, bool) {
	at, doubtful, ok := zonedLine(text, r.o.Zone)
	if doubtful != "" {
		r.doubtful = doubtful
	}
	return at, ok
}

// plausible keeps years out in which no Linux ran.
func plausible(t time.Time) bool { return t.Year() >= 1995 && t.Year() < 2200 }

// clockTime reads the time of day at the start of a row: "20:55:10",
// "08:55:10 PM", "20時55分10秒", with a zone after it perhaps. used is how many
// words it takes, 0 if it is none.
func clockTime(words []string) (t time.Duration, used int) {
	if len(words) == 0 {
		return 0, 0
	}
	w := words[0]
	if strings.HasSuffix(w, "秒") {
		w = strings.NewReplacer("時", ":", "时", ":", "分", ":", "秒", "").Replace(w)
	}
	at, err := time.Parse("15:04:05", w)
	if err != nil {
		return 0, 0
	}
	t = time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute + time.Duration(at.Second())*time.Second
	used = 1
	if len(words) > 1 && (words[1] == "AM" || words[1] == "PM") {
		t %= 12 * time.Hour
		if words[1] == "PM" {
			t += 12 * time.Hour
		}
		used = 2
	}
	return t, used
}

// dayClock turns times of day into times: it begins on a day and goes on to the
// next when the time of day steps back by more than half a day.
type dayClock struct {
	day  time.Time // midnight
	last time.Duration
	set  bool
}

// at gives the time for a time of day.
func (c *dayClock) at(t time.Duration) time.Time {
	if c.set && c.last-t > 12*time.Hour {
		c.day = c.day.AddDate(0, 0, 1)
	}
	c.last, c.set = t, true
	return c.day.Add(t)
}
