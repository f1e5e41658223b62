package stamp

import (
	"fmt"
	"time"
)

// Options is what is known of a source beforehand.
type Options struct {
	Zone      *time.Location // as the user has set it; nil: to be found out
	Host      *time.Location // of the host that wrote it, where that is known; nil: not known
	Reference time.Time      // when the text was read, or last written: settles years and dates that are missing
	Boot      time.Time      // when the host started, for stamps that count from then; zero: not known
}

// Clock turns the stamps of one source into UTC, in the order of its lines. It is
// not safe for concurrent use.
type Clock struct {
	options Options
	zone    Zone // best evidence so far, below what a product does by default
	last    time.Time
	doubt   string
}

// NewClock makes the clock of a source.
func NewClock(o Options) *Clock {
	c := &Clock{options: o}
	switch {
	case o.Zone != nil:
		c.zone = Zone{o.Zone, Set, "as set"}
	case o.Host != nil:
		c.zone = Zone{o.Host, Assumed, "taken to be the zone of this host: the line names none"}
	default:
		c.zone = Zone{time.UTC, Assumed, "taken to be UTC: the line names no zone, and nothing proves one"}
	}
	return c
}

// Zone is what the source's stamps are taken to be in, as far as is known.
func (c *Clock) Zone() Zone { return c.zone }

// Span is the time that a line is about, in UTC: an instant or, with a duration,
// an interval. The true one may begin and end up to Early before or Late after.
type Span struct {
	From, To    time.Time
	Early, Late time.Duration
	Zone        Zone
	Note        string // what makes it doubtful, empty if nothing does
}

// Resolve gives the time of a stamp in a line of a product ("" if not known). It
// reports false if nothing ties the stamp to a date.
func (c *Clock) Resolve(s Stamp, product string) (Span, bool) {
	span := Span{Late: s.Step}
	switch {
	case s.Kind == Uptime:
		if c.options.Boot.IsZero() {
			return Span{Note: "counted from a boot whose time is not known"}, false
		}
		span.From = c.options.Boot.Add(s.Up)
		span.Early, span.Late = time.Second, time.Second // the two clocks drift apart
		span.Zone = Zone{time.UTC, Proven, "counted from boot"}
	case s.Kind == Instant:
		span.From, span.Zone = s.Time, Zone{time.UTC, Proven, "counted from 1970 UTC"}
	default:
		c.wall(s, product, &span)
	}
	span.From = span.From.UTC()
	span.To = span.From
	c.last = span.From
	return span, true
}

// wall resolves a reading of a wall clock.
func (c *Clock) wall(s Stamp, product string, span *Span) {
	if s.Zoned {
		span.Zone = Zone{Fixed(s.Offset), Proven, "the stamp says it"}
	} else {
		c.sawOuter(s)
		span.Zone = c.zoneOf(s, product)
	}
	wall := c.complete(s, span)
	if s.Zoned {
		span.From = wall.Add(-s.Offset)
		return
	}
	c.local(wall, span)
}

// zoneOf is the zone of a stamp that names none.
func (c *Clock) zoneOf(s Stamp, product string) Zone {
	if c.zone.Proof < Default {
		if l, why := productZone(product, s); l != nil {
			return Zone{l, Default, why}
		}
	}
	return c.zone
}

// complete fills in a year or date that the stamp lacks: the latest that is not
// after the reference, but for a day, since zones differ.
func (c *Clock) complete(s Stamp, span *Span) time.Time {
	if !s.NoYear && !s.NoDate {
		return s.Time
	}
	ref := c.options.Reference
	if !c.last.IsZero() && (ref.IsZero() || s.NoDate) {
		ref = c.last
	}
	if ref.IsZero() {
		span.Note = "the line has no year, and nothing tells it"
		return s.Time
	}
	limit := ref.Add(26 * time.Hour)
	if s.NoYear {
		year := limit.Year()
		for ; ; year-- {
			t := time.Date(year, s.Time.Month(), s.Time.Day(), 0, 0, 0, 0, time.UTC).Add(sinceMidnight(s.Time))
			if !t.After(limit) && t.Month() == s.Time.Month() || year < limit.Year()-8 {
				return t
			}
		}
	}
	return c.completeDate(s, ref, span)
}

func sinceMidnight(t time.Time) time.Duration {
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute +
		time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
}

// completeDate takes the day on which the time is nearest to the reference.
func (c *Clock) completeDate(s Stamp, ref time.Time, span *Span) time.Time {
	local := ref.In(span.Zone.Location)
	midnight := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, time.UTC)
	t := midnight.Add(sinceMidnight(s.Time))
	shown := midnight.Add(sinceMidnight(local))
	switch {
	case t.Sub(shown) > 12*time.Hour:
		t = t.AddDate(0, 0, -1)
	case shown.Sub(t) > 12*time.Hour:
		t = t.AddDate(0, 0, 1)
	}
	span.Note = "the line has no date: the day is that of " + ref.UTC().Format(time.DateTime) + " UTC"
	return t
}

// local finds the instant at which a zone's clocks showed a reading. In the hour
// that is repeated in autumn there are two, in the one left out in spring none:
// said, and reckoned with.
func (c *Clock) local(wall time.Time, span *Span) {
	zone := span.Zone.Location
	before := offsetAt(zone, wall.Add(-26*time.Hour))
	after := offsetAt(zone, wall.Add(26*time.Hour))
	early, late := wall.Add(-max(before, after)), wall.Add(-min(before, after))
	earlyFits := offsetAt(zone, early) == max(before, after)
	lateFits := offsetAt(zone, late) == min(before, after)
	switch {
	case before == after:
		span.From = wall.Add(-before)
	case earlyFits && lateFits:
		span.From = early
		if c.last.After(early.Add(time.Minute)) {
			span.From = late
		}
		if span.From.Equal(early) {
			span.Late += late.Sub(early)
		} else {
			span.Early += late.Sub(early)
		}
		span.Note = fmt.Sprintf("%s was shown twice in %s: the clocks went back", wall.Format(time.TimeOnly), zone)
	case earlyFits:
		span.From = early
	case lateFits:
		span.From = late
	default:
		span.From = late
		span.Early += late.Sub(early)
		span.Note = fmt.Sprintf("%s was never shown in %s: the clocks went forward, so the zone is wrong", wall.Format(time.TimeOnly), zone)
	}
}

func offsetAt(zone *time.Location, t time.Time) time.Duration {
	_, o := t.In(zone).Zone()
	return time.Duration(o) * time.Second
}

// zonesApart is how far the clocks of two zones are apart at most (+14:00 and
// -12:00).
const zonesApart = 26 * time.Hour

// Lasted makes the span of a line that says how long something took: it ended
// when the line was written. With the instant at which it began, that is exact; with
// that instant alone (took is 0) it lasted until the line was written. An instant
// that no zone brings near the line is not believed.
func (s Span) Lasted(took time.Duration, began time.Time) Span {
	if d := s.To.Sub(began.Add(took)); !began.IsZero() && (d > zonesApart || d < -zonesApart) {
		began, s.Note = time.Time{}, "the line says that it began at "+began.UTC().Format(time.RFC3339)+", which is not believed"
	}
	switch {
	case began.IsZero():
		s.From = s.To.Add(-took)
	case took == 0 && began.Before(s.To):
		s.From = began.UTC()
	default:
		s.From, s.To = began.UTC(), began.UTC().Add(took)
		s.Early, s.Late = time.Millisecond, time.Millisecond
	}
	return s
}
