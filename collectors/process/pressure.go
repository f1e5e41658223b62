package process

import (
	"bytes"
	"io/fs"
	"time"

	"stallmark/collectors"
)

// pressure follows how much the host's tasks were held up since the last beat,
// from /proc/pressure, or from /proc/vmstat and /proc/stat where that is
// missing.
type pressure struct {
	memory bool // tasks reclaimed or waited for memory
	heavy  bool // tasks were held up by memory or I/O for a part of the beat that is felt
	blind  bool // nothing says whether they were

	at          time.Time
	memoryTotal counter // microseconds, "some"
	ioTotal     counter
	allocstall  counter
	buf         []byte
}

// heavyShare is the part of a beat in which some task was held up that makes
// it worth the cost to look at the tasks of the host: 3 %, 30 ms in a second.
const heavyShare = 0.03

// counter remembers the last reading of a counter.
type counter struct {
	last  uint64
	known bool
}

// step returns how much the counter rose, 0 at the first reading and after a
// restart.
func (c *counter) step(v uint64) uint64 {
	rise := uint64(0)
	if c.known && v > c.last {
		rise = v - c.last
	}
	c.last, c.known = v, true
	return rise
}

// read takes this beat's readings.
func (p *pressure) read(root collectors.Root, at time.Time) {
	elapsed := at.Sub(p.at)
	p.at = at
	p.memory, p.heavy = false, false
	p.blind = true
	if mem, err := p.some(root, "proc/pressure/memory"); err == nil {
		rise := p.memoryTotal.step(mem)
		p.memory = rise > 0
		p.heavy = share(rise, elapsed) > heavyShare
		p.blind = false
	} else {
		p.readCounters(root)
	}
	if io, err := p.some(root, "proc/pressure/io"); err == nil {
		p.heavy = share(p.ioTotal.step(io), elapsed) > heavyShare || p.heavy
		p.blind = false
	}
}

func share(micros uint64, of time.Duration) float64 {
	if of <= 0 {
		return 0
	}
	return float64(micros) / float64(of.Microseconds())
}

// some returns the total of the line "some" in microseconds.
func (p *pressure) some(root collectors.Root, name string) (uint64, error) {
	var err error
	if p.buf, err = root.Read(name, p.buf); err != nil {
		return 0, err
	}
	some, _, ok := parsePressure(p.buf)
	if !ok {
		return 0, fs.ErrInvalid
	}
	return some, nil
}

// parsePressure reads a PSI file: the totals of "some" and "full" in
// microseconds; full is 0 where the kernel has no such line.
func parsePressure(b []byte) (some, full uint64, ok bool) {
	eachLine(b, func(key, rest []byte) {
		i := bytes.Index(rest, []byte("total="))
		if i < 0 {
			return
		}
		v, isNumber := parseNumber(rest[i+len("total="):])
		switch {
		case !isNumber:
		case string(key) == "some":
			some, ok = v, true
		case string(key) == "full":
			full = v
		}
	})
	return some, full, ok
}

// readCounters stands in for PSI: direct reclaim by its counter, I/O by the
// tasks that are blocked at this instant.
func (p *pressure) readCounters(root collectors.Root) {
	var err error
	if p.buf, err = root.Read("proc/vmstat", p.buf); err == nil {
		sum := uint64(0)
		eachLine(p.buf, func(key, rest []byte) {
			if bytes.HasPrefix(key, []byte("allocstall")) { // one a zone since 4.8
				v, _ := parseNumber(rest)
				sum += v
			}
		})
		p.memory, p.blind = p.allocstall.step(sum) > 0, false
	}
	if p.buf, err = root.Read("proc/stat", p.buf); err == nil {
		eachLine(p.buf, func(key, rest []byte) {
			if string(key) == "procs_blocked" {
				v, _ := parseNumber(rest)
				p.heavy, p.blind = v > 0, false
			}
		})
	}
	p.heavy = p.heavy || p.memory
}
