package stamp

import (
	"fmt"
	"time"
)

// How far a stamp may be off the instant that it is compared with. All are small
// against a quarter of an hour, the grid of the world's zones.
const (
	skew     = 2 * time.Second // between the clocks of two programs
	buffered = 2 * time.Minute // how late a line can reach its file or a pipe's reader, or be written after what it is about
	settled  = 5 * time.Second // between the last line of a file and its last change
)

// SawStart takes in a line that holds the instant at which something began, and
// how long it took: its stamp is that of the end. It returns whether they fit.
func (c *Clock) SawStart(s Stamp, began time.Time, took time.Duration) bool {
	if s.Kind != Wall || s.Zoned || s.NoDate || s.NoYear {
		return false
	}
	end := began.Add(took)
	offset, ok := offsetOf(s.Time, end, buffered, s.Step+skew)
	if !ok {
		return false
	}
	c.learn(offset, Proven, fmt.Sprintf("proven by a line that holds the instant %s beside its stamp", began.UTC().Format(time.RFC3339)))
	return true
}

// SawLive takes in a line that was read as soon as it was written.
func (c *Clock) SawLive(s Stamp, read time.Time) bool {
	if s.Kind != Wall || s.Zoned || s.NoDate || s.NoYear {
		return false
	}
	offset, ok := offsetOf(s.Time, read, skew, s.Step+buffered)
	if !ok {
		return false
	}
	c.learn(offset, Observed, fmt.Sprintf("seen: a line stamped %s came at %s", s.Time.Format(time.TimeOnly), read.UTC().Format("15:04:05Z")))
	return true
}

// SawEnd takes in the last line of a file and the time of the file's last
// change. A copied file has a later one, which hardly ever fits by chance.
func (c *Clock) SawEnd(s Stamp, changed time.Time) bool {
	if s.Kind != Wall || s.Zoned || s.NoDate || s.NoYear {
		return false
	}
	offset, ok := offsetOf(s.Time, changed, skew, s.Step+settled)
	if !ok {
		return false
	}
	c.learn(offset, FileTime, fmt.Sprintf("by the file's last change at %s and its last stamp %s",
		changed.UTC().Format("15:04:05Z"), s.Time.Format(time.TimeOnly)))
	return true
}

// SawNearby takes in the offset that the stamps of another log of the same host
// say.
func (c *Clock) SawNearby(offset time.Duration, log string) {
	c.learn(offset, Nearby, "as in "+log+" beside it, which says its zone")
}

// SawBeside takes in that in a zone the lines are of the time of a recording
// beside them.
func (c *Clock) SawBeside(zone *time.Location, other Zone) {
	c.Known(Zone{zone, Fitting, "in it the lines are of the recording's time, in " + zoneName(other.Location) + " none is"})
}

// Known takes in a zone that was found out before, if that is surer.
func (c *Clock) Known(z Zone) {
	if z.Location != nil && z.Proof > c.zone.Proof {
		c.zone = z
	}
}

// sawOuter takes in the stamp that a container's runtime put before the line.
func (c *Clock) sawOuter(s Stamp) {
	if s.Seen.IsZero() || s.NoDate || s.NoYear {
		return
	}
	if offset, ok := offsetOf(s.Time, s.Seen, skew, s.Step+buffered); ok {
		c.learn(offset, Proven, "proven by the stamp before it, which says its zone")
	}
}

// learn keeps the surest evidence, and of equals the latest: clocks go forward
// and back. The zone of the host is kept where it agrees, since it knows when
// they do. What speaks against a surer zone is remembered.
func (c *Clock) learn(offset time.Duration, proof Proof, why string) {
	known := offsetAt(c.zone.Location, c.last)
	if c.zone.Proof > proof || c.zone.Proof == proof && known == offset {
		if known != offset && proof == Proven {
			c.doubt = fmt.Sprintf("set to %s, but %s is %s", c.zone.Location, Fixed(offset), why)
		}
		return
	}
	zone := Fixed(offset)
	if c.options.Host != nil && !c.last.IsZero() && offsetAt(c.options.Host, c.last) == offset {
		zone = c.options.Host
	}
	c.zone = Zone{zone, proof, why}
}

// Doubt is what the lines prove against the zone that was set, empty if nothing.
func (c *Clock) Doubt() string { return c.doubt }
