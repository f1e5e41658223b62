package trace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"
)

// record is a perf record with its header.
func record(kind uint32, body []byte) []byte {
	b := binary.NativeEndian.AppendUint32(nil, kind)
	b = binary.NativeEndian.AppendUint16(b, 0)
	b = binary.NativeEndian.AppendUint16(b, uint16(headerSize+len(body)))
	return append(b, body...)
}

// sampleRecord is a record as the kernel writes it for sampleType.
func sampleRecord(pid, tid int, time uint64, raw []byte) []byte {
	b := binary.NativeEndian.AppendUint32(nil, uint32(pid))
	b = binary.NativeEndian.AppendUint32(b, uint32(tid))
	b = binary.NativeEndian.AppendUint64(b, time)
	b = binary.NativeEndian.AppendUint64(b, 1) // CPU 1
	b = binary.NativeEndian.AppendUint32(b, uint32(len(raw)))
	b = append(b, raw...)
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	return record(recordSample, b)
}

func lostRecord(n uint64) []byte {
	return record(recordLost, binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(nil, 77), n))
}

// fill writes bytes into a ring at a position, around the end if need be.
func fill(r *ring, at uint64, b []byte) {
	for i, c := range b {
		r.data[(at+uint64(i))&uint64(len(r.data)-1)] = c
	}
}

func drainAll(r *ring, head uint64, limit int) (seen []string, d Drained) {
	d = r.drain(head, limit, func(s *Sample) {
		seen = append(seen, fmt.Sprintf("%d/%d@%d %s", s.Pid, s.Tid, s.Time, bytes.TrimRight(s.Raw, "\x00")))
	})
	return seen, d
}

func TestRingReadsAroundItsEnd(t *testing.T) {
	rec := append(sampleRecord(10, 11, 12, []byte("hello, world")), lostRecord(5)...)
	rec = append(rec, sampleRecord(20, 21, 22, []byte("again"))...)
	rec = append(rec, record(99, []byte("unknown!"))...)
	for start := range uint64(256) {
		r := &ring{data: make([]byte, 256), tail: start + 1<<40}
		fill(r, r.tail, rec)
		head := r.tail + uint64(len(rec))
		seen, d := drainAll(r, head, 100)
		if fmt.Sprint(seen) != "[10/11@12 hello, world 20/21@22 again]" || d != (Drained{Taken: 2, Lost: 5}) {
			t.Fatalf("from %d: %v %+v", start, seen, d)
		}
		if r.tail != head {
			t.Fatalf("tail %d, want %d", r.tail, head)
		}
	}
}

func TestRingKeepsItsBudget(t *testing.T) {
	r := &ring{data: make([]byte, 4096)}
	head := uint64(0)
	for i := range 20 {
		rec := sampleRecord(1, i, uint64(i), []byte("ab"))
		fill(r, head, rec)
		head += uint64(len(rec))
	}
	seen, d := drainAll(r, head, 7)
	if len(seen) != 7 || d != (Drained{Taken: 7, Skipped: 13}) || r.tail != head {
		t.Errorf("%d seen, %+v", len(seen), d)
	}
}

func TestRingDropsWhatCannotBe(t *testing.T) {
	good := sampleRecord(1, 2, 3, []byte("ab"))
	long := record(recordSample, bytes.Repeat([]byte{0xff}, 40)) // raw of 4 GB
	short := record(recordSample, make([]byte, 8))
	zero := make([]byte, 16)
	beyond := record(recordSample, make([]byte, 100))[:24]
	tests := map[string]struct {
		bytes []byte
		want  Drained
	}{
		"raw beyond the record":    {append(long, good...), Drained{Taken: 1, Damaged: 1}},
		"short sample":             {append(short, good...), Drained{Taken: 1, Damaged: 1}},
		"size 0":                   {append(append(append([]byte(nil), good...), zero...), good...), Drained{Taken: 1, Damaged: 1}},
		"record beyond the head":   {append(append([]byte(nil), good...), beyond...), Drained{Taken: 1, Damaged: 1}},
		"less than a header":       {append(append([]byte(nil), good...), 1, 2, 3), Drained{Taken: 1, Damaged: 1}},
		"short lost record":        {append(record(recordLost, []byte{1}), good...), Drained{Taken: 1}},
		"lost samples":             {record(recordLostSamples, binary.NativeEndian.AppendUint64(nil, 9)), Drained{Lost: 9}},
		"lost without measure":     {lostRecord(1 << 63), Drained{Lost: 1 << 30}},
		"a head beyond the buffer": {make([]byte, 600), Drained{Damaged: 1}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := &ring{data: make([]byte, 512)}
			fill(r, 0, tt.bytes)
			if _, d := drainAll(r, uint64(len(tt.bytes)), 100); d != tt.want || r.tail != uint64(len(tt.bytes)) {
				t.Errorf("%+v, tail %d; want %+v", d, r.tail, tt.want)
			}
		})
	}
}

func TestRingSize(t *testing.T) {
	for cpus, want := range map[int]int{1: 512 << 10, 2: 512 << 10, 8: 512 << 10, 16: 256 << 10, 64: 64 << 10, 1000: 64 << 10} {
		if got := ringSize(cpus); got != want {
			t.Errorf("%d CPUs: %d, want %d", cpus, got, want)
		}
	}
}

func FuzzRing(f *testing.F) {
	f.Add(append(sampleRecord(10, 11, 12, []byte("hello")), lostRecord(5)...), uint64(250), uint64(64))
	f.Add(lostRecord(5), uint64(0), uint64(24))
	f.Add([]byte{9, 0, 0, 0, 0, 0, 0, 0}, uint64(255), uint64(8))
	f.Fuzz(func(t *testing.T, data []byte, tail, length uint64) {
		r := &ring{data: make([]byte, 256), tail: tail}
		fill(r, tail, data[:min(len(data), 256)])
		head := tail + length
		d := r.drain(head, 3, func(s *Sample) {
			if len(s.Raw) > 256 {
				t.Errorf("%d bytes from a ring of 256", len(s.Raw))
			}
			s.typeOf()
		})
		if r.tail != head || d.Taken > 3 || d.Taken < 0 || d.Lost < 0 {
			t.Errorf("%+v, tail %d of %d", d, r.tail, head)
		}
	})
}

func BenchmarkRingDrain(b *testing.B) {
	r := &ring{data: make([]byte, 64<<10)}
	head := uint64(0)
	for rec := sampleRecord(1, 2, 3, make([]byte, 148)); head+uint64(len(rec)) <= 64<<10; head += uint64(len(rec)) {
		fill(r, head, rec)
	}
	taken := 0
	for b.Loop() {
		r.tail = 0
		taken += r.drain(head, 1<<30, func(*Sample) {}).Taken
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(taken), "ns/record")
}
