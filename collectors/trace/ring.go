package trace

import "encoding/binary"

// ring reads records out of the data area of a perf mapping. The kernel writes
// at head, we read at tail; both only ever grow, and a record may wrap around
// the end of the area.
type ring struct {
	data []byte // its length is a power of two
	tail uint64
	wrap []byte // of a record that lies around the end
}

// Drained says what became of the records of a drain.
type Drained struct {
	Taken   int // handed over
	Lost    int // the ring was full: the kernel dropped them
	Skipped int // over the budget: not looked at
	Damaged int // rings with a record that cannot be; its rest was dropped
}

func (d *Drained) add(o Drained) {
	d.Taken += o.Taken
	d.Lost += o.Lost
	d.Skipped += o.Skipped
	d.Damaged += o.Damaged
}

// drain hands over the samples up to head, at most limit, and drops the rest.
func (r *ring) drain(head uint64, limit int, take func(*Sample)) (d Drained) {
	if head-r.tail > uint64(len(r.data)) { // never, unless the mapping is damaged
		r.tail = head
		d.Damaged++
		return d
	}
	for r.tail != head {
		kind, body, ok := r.next(head)
		if !ok {
			r.tail = head
			d.Damaged++
			return d
		}
		switch kind {
		case recordLost, recordLostSamples:
			d.Lost += int(min(decodeLost(kind, body), 1<<30))
		case recordSample:
			if d.Taken >= limit {
				d.Skipped++
				continue
			}
			s, ok := decodeSample(body)
			if !ok {
				d.Damaged++
				continue
			}
			d.Taken++
			take(&s)
		}
	}
	return d
}

// next reads one record and goes past it. The body is valid until the next
// call. It is not ok if the record does not fit between tail and head.
func (r *ring) next(head uint64) (kind uint32, body []byte, ok bool) {
	left := head - r.tail
	if left < headerSize {
		return 0, nil, false
	}
	h := r.at(r.tail, headerSize)
	kind, size := binary.NativeEndian.Uint32(h), uint64(binary.NativeEndian.Uint16(h[6:]))
	if size < headerSize || size > left {
		return 0, nil, false
	}
	b := r.at(r.tail, int(size))
	r.tail += size
	return kind, b[headerSize:], true
}

// at is n bytes of the area, in one piece.
func (r *ring) at(pos uint64, n int) []byte {
	start := int(pos & uint64(len(r.data)-1))
	if start+n <= len(r.data) {
		return r.data[start : start+n]
	}
	r.wrap = append(append(r.wrap[:0], r.data[start:]...), r.data[:n-(len(r.data)-start)]...)
	return r.wrap
}
