package hsperf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// MaxFile is the longest file that is read, in bytes: -XX:PerfDataMemorySize is
// 32 KiB unless set otherwise.
const MaxFile = 1 << 20

// The prologue (PerfDataPrologue), 32 bytes, and the head of an entry
// (PerfDataEntry), 20 bytes.
const (
	prologueSize = 32
	entrySize    = 20
	magic        = 0xcafec0c0 // written high byte first on every machine

	offByteOrder  = 4
	offMajor      = 5
	offAccessible = 7
	offUsed       = 8
	offOverflow   = 12
	offStamp      = 16
	offEntries    = 24
	offCount      = 28

	unitsString = 5
)

// ErrNotReady says that the JVM is still setting its counters up: ask again.
var ErrNotReady = errors.New("the JVM has not made its counters readable yet")

// errDamaged wraps what is wrong with a file.
func errDamaged(format string, args ...any) error {
	return fmt.Errorf("not a HotSpot counter file: "+format, args...)
}

// Entry is one counter: a whole number, or a text.
type Entry struct {
	Name   []byte // points into the file
	Text   []byte // of a text, without its NUL; nil for a number
	Number int64
	at     int // offset of the value
	room   int // bytes of a text's value
}

// Header is what the file says of itself.
type Header struct {
	Order    binary.ByteOrder
	Used     int   // bytes
	Overflow int32 // bytes of counters that did not fit
	Stamp    int64 // changes when counters are added, not when they move
	First    int   // offset of the first entry
	Count    int
}

// header reads the prologue.
func header(b []byte) (Header, error) {
	var h Header
	if len(b) < prologueSize {
		return h, errDamaged("%d bytes, want at least %d", len(b), prologueSize)
	}
	if m := binary.BigEndian.Uint32(b); m != magic {
		return h, errDamaged("it begins with %08x, want %08x", m, uint32(magic))
	}
	switch b[offByteOrder] {
	case 0:
		h.Order = binary.BigEndian
	case 1:
		h.Order = binary.LittleEndian
	default:
		return h, errDamaged("byte order %d, want 0 or 1", b[offByteOrder])
	}
	if b[offMajor] != 2 {
		return h, errDamaged("version %d.%d, want 2", b[offMajor], b[offMajor+1])
	}
	if b[offAccessible] == 0 {
		return h, ErrNotReady
	}
	h.Used = int(int32(h.Order.Uint32(b[offUsed:])))
	h.Overflow = int32(h.Order.Uint32(b[offOverflow:]))
	h.Stamp = int64(h.Order.Uint64(b[offStamp:]))
	h.First = int(int32(h.Order.Uint32(b[offEntries:])))
	h.Count = int(int32(h.Order.Uint32(b[offCount:])))
	if h.First < prologueSize || h.First > len(b) || h.Count < 0 {
		return h, errDamaged("%d entries from byte %d of %d", h.Count, h.First, len(b))
	}
	return h, nil
}

// Parse gives all counters of a file to each, in the file's order; what it gives
// points into b. Entries of types that HotSpot does not use are passed over. An
// error says what is wrong; what was given before it stands.
func Parse(b []byte, each func(Entry)) (Header, error) {
	h, err := header(b)
	if err != nil {
		return h, err
	}
	at := h.First
	for i := range h.Count {
		if at+entrySize > len(b) {
			return h, errDamaged("entry %d begins at byte %d of %d", i, at, len(b))
		}
		length := int(int32(h.Order.Uint32(b[at:])))
		if length < entrySize || length > len(b)-at {
			return h, errDamaged("entry %d at byte %d is %d bytes long", i, at, length)
		}
		e, ok := entry(b[at:at+length], h.Order)
		if ok {
			e.at += at
			each(e)
		}
		at += length
	}
	return h, nil
}

// entry reads one entry of the kinds that are used: 'J' numbers and 'B' texts.
func entry(b []byte, order binary.ByteOrder) (Entry, bool) {
	name := int(int32(order.Uint32(b[4:])))
	vector := int(int32(order.Uint32(b[8:])))
	kind, units := b[12], b[14]
	data := int(int32(order.Uint32(b[16:])))
	if name < entrySize || name >= len(b) || data < entrySize || data > len(b) {
		return Entry{}, false
	}
	e := Entry{Name: untilNUL(b[name:]), at: data}
	switch {
	case kind == 'J' && vector == 0 && data+8 <= len(b):
		e.Number = int64(order.Uint64(b[data:]))
	case kind == 'B' && units == unitsString && vector > 0 && vector <= len(b)-data:
		e.Text, e.room = untilNUL(b[data:data+vector]), vector
	default:
		return Entry{}, false
	}
	return e, true
}

func untilNUL(b []byte) []byte {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i:i]
	}
	return b
}

// mayKeep reports whether a text may leave the host. Command lines, paths and
// properties may not: they hold passwords and names.
func mayKeep(name []byte) bool {
	switch string(name) {
	case "sun.gc.cause", "sun.gc.lastCause", "sun.gc.policy.name", "java.property.java.version",
		"java.property.java.vm.version", "java.property.java.vm.specification.version":
		return true
	}
	return bytes.HasPrefix(name, []byte("sun.gc.")) && bytes.HasSuffix(name, []byte(".name"))
}

// Redact overwrites all texts but the allow-listed ones with NULs, in place. It
// returns nil for what is no counter file, since nobody can say what that is.
func Redact(b []byte) []byte {
	h, err := Parse(b, func(e Entry) {
		if e.room > 0 && !mayKeep(e.Name) {
			clear(b[e.at : e.at+e.room])
		}
	})
	if err != nil && !errors.Is(err, ErrNotReady) {
		return nil
	}
	if err != nil { // not ready: nothing but the prologue counts
		return b[:prologueSize:prologueSize]
	}
	if h.Used >= prologueSize && h.Used < len(b) {
		b = b[:h.Used]
	}
	return b
}
