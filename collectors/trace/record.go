package trace

import "encoding/binary"

// Types of perf records (include/uapi/linux/perf_event.h) that matter here.
const (
	recordLost        = 2  // u64 id, u64 lost
	recordSample      = 9  // as asked for by sampleType
	recordLostSamples = 13 // u64 lost
	headerSize        = 8  // u32 type, u16 misc, u16 size
)

// Sample is one record of a tracepoint: which thread came by it, and when.
// Sample types TID, TIME, CPU and RAW stand in this order (perf_event_open(2)).
type Sample struct {
	Pid, Tid int    // of the thread's process, and of the thread
	Time     uint64 // ns, of CLOCK_MONOTONIC where the kernel allows the choice
	Raw      []byte // the tracepoint's own data; valid until the next record is read
}

// decodeSample reads the body of a recordSample.
func decodeSample(b []byte) (Sample, bool) {
	const fixed = 4 + 4 + 8 + 4 + 4 + 4
	if len(b) < fixed {
		return Sample{}, false
	}
	s := Sample{
		Pid:  int(int32(binary.NativeEndian.Uint32(b))),
		Tid:  int(int32(binary.NativeEndian.Uint32(b[4:]))),
		Time: binary.NativeEndian.Uint64(b[8:]),
	}
	size := uint64(binary.NativeEndian.Uint32(b[24:])) // after u32 cpu, u32 reserved
	if size > uint64(len(b)-fixed) {
		return Sample{}, false
	}
	s.Raw = b[fixed : fixed+int(size)]
	return s, true
}

// typeOf is the id of the event that a sample is of: common_type, which is the
// first field of every tracepoint.
func (s *Sample) typeOf() (uint16, bool) {
	if len(s.Raw) < 2 {
		return 0, false
	}
	return binary.NativeEndian.Uint16(s.Raw), true
}

// decodeLost is how many records the kernel had no room for.
func decodeLost(kind uint32, b []byte) uint64 {
	switch {
	case kind == recordLost && len(b) >= 16:
		return binary.NativeEndian.Uint64(b[8:])
	case kind == recordLostSamples && len(b) >= 8:
		return binary.NativeEndian.Uint64(b)
	}
	return 0
}
