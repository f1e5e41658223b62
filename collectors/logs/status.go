package logs

import (
	"slices"
	"time"

	"stallmark/collectors/logs/stamp"
)

// Status is what is known of one log, or of a target of which nothing was found.
type Status struct {
	File    *File
	Target  Target
	Problem error     // why it cannot be read, nil if it can
	Found   bool      // there is such a file
	Bytes   int64     // handed on since it is followed
	Leapt   int64     // bytes that were passed over because there were too many
	Changed time.Time // last write to the newest file of those with something in them, zero if there is none
}

// changed is when the log was last seen to be written to.
func (s *stream) changed() (at time.Time) {
	for _, p := range s.parts {
		if p.last.mtime > 0 && (p.last.size > 0 || p.trace.offset > 0) {
			at = time.Unix(0, p.last.mtime)
		}
	}
	return at
}

// zoned is a consumer that knows the zone of its log's stamps, by its lines.
type zoned interface{ shown() string }

// zone is the zone that the log's lines have shown, empty if none has.
func (s *stream) zone() string {
	if z, ok := s.feeder.consumer.(zoned); ok {
		return z.shown()
	}
	return ""
}

// savedZone is the zone that the last run has seen: lines that were written
// meanwhile cannot show it.
func (d *folder) savedZone(base string) stamp.Zone {
	for _, p := range d.positions(base) {
		if l, err := stamp.ParseZone(p.Zone); err == nil && p.Zone != "" {
			return stamp.Zone{Location: l, Proof: stamp.Observed, Why: "seen by lines before this program was started again"}
		}
	}
	return stamp.Zone{}
}

func (d *folder) setBusy(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.since = now
}

// rest ends a poll; what it has changed is made visible to others.
func (d *folder) rest() {
	if d.dirty {
		d.publish()
		d.dirty = false
		return
	}
	d.setBusy(time.Time{})
}

// publish makes the outcome of a poll visible to others.
func (d *folder) publish() {
	states := make([]Status, 0, len(d.order)+1)
	var places []Position
	for _, s := range d.order {
		states = append(states, Status{
			File: s.file, Target: d.target, Problem: s.problem, Found: len(s.parts) > 0, Bytes: s.bytes, Leapt: s.leapt, Changed: s.changed(),
		})
		zone := s.zone()
		for _, p := range s.parts {
			places = append(places, Position{
				Log: d.logKey(s.base), Name: p.name, Ino: p.last.ino, mark: p.trace.mark(), Skipping: p.skipping, Mtime: p.last.mtime, Zone: zone,
			})
		}
	}
	if len(states) == 0 {
		states = append(states, Status{Target: d.target, Problem: d.failure})
	}
	for _, p := range d.saved { // of logs that have not been found yet
		if !slices.ContainsFunc(d.order, func(s *stream) bool { return d.logKey(s.base) == p.Log && s.begun }) {
			places = append(places, p)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.told = true
	d.states, d.places, d.since = states, places, time.Time{}
}

// status is how things stood after the last poll, and since when the one under
// way has not ended, zero if none is.
func (d *folder) status() ([]Status, []Position, time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.told { // it has not come so far
		return d.states, d.saved, d.since
	}
	return d.states, d.places, d.since
}
