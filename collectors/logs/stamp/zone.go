package stamp

import (
	"fmt"
	"time"
)

// Proof says how a source's zone is known. Greater is surer.
type Proof int

// The proofs, from the weakest.
const (
	Assumed  Proof = iota // nothing says it
	Nearby                // another log of the same host says its offset
	Default               // what the product writes unless its layout was changed
	FileTime              // the file's last line against the time of its last change
	Fitting               // so its lines are of the time of the recording beside it
	Observed              // lines against the times at which they arrived
	Proven                // a line that holds an instant beside its stamp
	Set                   // by the user
)

// Zone is what the stamps of a source are taken to be in, and why.
type Zone struct {
	Location *time.Location
	Proof    Proof
	Why      string // in words, shown
}

// String is the zone with its reason.
func (z Zone) String() string { return fmt.Sprintf("%s (%s)", zoneName(z.Location), z.Why) }

func zoneName(l *time.Location) string {
	if l == nil {
		return "UTC"
	}
	return l.String()
}

// Fixed is a zone of one offset, named as people write it: UTC+08:00.
func Fixed(offset time.Duration) *time.Location {
	sign, o := '+', offset
	if o < 0 {
		sign, o = '-', -o
	}
	if o == 0 {
		return time.UTC
	}
	name := fmt.Sprintf("UTC%c%02d:%02d", sign, o/time.Hour, o%time.Hour/time.Minute)
	return time.FixedZone(name, int(offset/time.Second))
}

// ParseZone reads a zone as a user names it: Asia/Shanghai, +08:00, UTC+8, GMT-3,
// Z.
func ParseZone(name string) (*time.Location, error) {
	c := &cursor{text: []byte(name)}
	named := c.name("UTC", "GMT") >= 0
	if c.i == len(name) && named || name == "Z" || name == "z" {
		return time.UTC, nil
	}
	if sign := c.peek(); sign == '+' || sign == '-' {
		c.i++
		h := c.within(1, 2, 0, 15)
		m := 0
		if c.maybe(':') || c.i < len(name) {
			m = c.within(2, 2, 0, 59)
		}
		if !c.bad && c.i == len(name) {
			o := time.Duration(h)*time.Hour + time.Duration(m)*time.Minute
			if sign == '-' {
				o = -o
			}
			return Fixed(o), nil
		}
	}
	if l, err := time.LoadLocation(name); err == nil && name != "" {
		return l, nil
	}
	return nil, fmt.Errorf("zone %.40q: want a name as in Asia/Shanghai or an offset as in +08:00", name)
}

// quarter is the grid of the world's offsets: whole hours, halves and quarters.
const quarter = 15 * time.Minute

// offsetOf guesses the offset of a wall clock that showed wall at an instant. The
// stamp may be up to late behind, and early ahead. Both must be small against a
// quarter of an hour, or anything would fit.
func offsetOf(wall, instant time.Time, early, late time.Duration) (time.Duration, bool) {
	gap := wall.Sub(instant)
	offset := (gap + late).Truncate(quarter)
	if gap+late < 0 && offset != gap+late {
		offset -= quarter
	}
	rest := gap - offset // how far the stamp is ahead of the instant
	if rest > early || rest < -late || offset < -12*time.Hour || offset > 14*time.Hour {
		return 0, false
	}
	return offset, true
}

// gmt8 is RocketMQ's: its shipped layouts say GMT+8, whatever the host's zone.
func gmt8() *time.Location { return Fixed(8 * time.Hour) }

// productZone is the zone that a product writes by default, nil if that is the
// zone of its host.
func productZone(product string, s Stamp) (*time.Location, string) {
	switch {
	case product == "rocketmq" && !s.JSON && s.Mark == 0:
		return gmt8(), "RocketMQ's servers write whole seconds in GMT+8 whatever the host's zone"
	case product == "rocketmq" && !s.JSON && s.Mark == '.':
		return gmt8(), "the layout of RocketMQ 5 clients is in GMT+8"
	}
	return nil, ""
}
