package trace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
)

// format is what a format file of tracefs says: events/<group>/<name>/format.
type format struct {
	id     uint16 // common_type of the event's records, and config of perf_event_attr
	fields map[string]field
}

// field is where a value stands in the raw data of a record, in bytes.
type field struct {
	offset, size int
	signed       bool
}

// maxRaw bounds offsets and sizes: the kernel's own limit for perf's raw data
// of a tracepoint (PERF_MAX_TRACE_SIZE) is 8 kB.
const maxRaw = 8192

// parseFormat reads
//
//	name: balance_dirty_pages
//	ID: 985
//	format:
//		field:long pause;	offset:112;	size:8;	signed:1;
//
// Lines that it does not know are skipped; a field line that it cannot read is
// an error, since a wrong offset gives wrong numbers.
func parseFormat(data []byte) (format, error) {
	f := format{fields: map[string]field{}}
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		if rest, ok := bytes.CutPrefix(line, []byte("ID:")); ok {
			id, err := strconv.ParseUint(string(bytes.TrimSpace(rest)), 10, 16)
			if err != nil {
				return format{}, fmt.Errorf("format: ID %.40q", rest)
			}
			f.id = uint16(id)
		}
		if rest, ok := bytes.CutPrefix(line, []byte("field:")); ok {
			name, fd, err := parseField(rest)
			if err != nil {
				return format{}, err
			}
			f.fields[name] = fd
		}
	}
	if f.id == 0 {
		return format{}, errors.New("format: no ID")
	}
	return f, nil
}

// parseField reads a declaration and the attributes after it. Kernels before
// 2.6.33 do not say signed.
func parseField(line []byte) (string, field, error) {
	parts := bytes.Split(line, []byte(";"))
	name := declared(parts[0])
	fd := field{offset: -1}
	for _, p := range parts[1:] {
		key, value, ok := bytes.Cut(bytes.TrimSpace(p), []byte(":"))
		if !ok {
			continue
		}
		n, err := strconv.Atoi(string(value))
		if err != nil || n < 0 || n > maxRaw {
			return "", field{}, fmt.Errorf("format: field %.40q: %.40q", name, p)
		}
		switch string(key) {
		case "offset":
			fd.offset = n
		case "size":
			fd.size = n
		case "signed":
			fd.signed = n == 1
		}
	}
	if name == "" || fd.offset < 0 || fd.size == 0 {
		return "", field{}, fmt.Errorf("format: field %.80q is incomplete", line)
	}
	return name, fd, nil
}

// declared is the name in "unsigned long pause" or "char bdi[32]".
func declared(decl []byte) string {
	words := bytes.Fields(decl)
	if len(words) < 2 {
		return ""
	}
	name, _, _ := bytes.Cut(words[len(words)-1], []byte("["))
	return string(bytes.TrimLeft(name, "*"))
}

// value reads a number of 1, 2, 4 or 8 bytes in the machine's order.
func (f field) value(raw []byte) (int64, bool) {
	if f.offset < 0 || f.size < 1 || f.offset+f.size > len(raw) {
		return 0, false
	}
	b := raw[f.offset : f.offset+f.size]
	var u uint64
	switch f.size {
	case 1:
		u = uint64(b[0])
	case 2:
		u = uint64(binary.NativeEndian.Uint16(b))
	case 4:
		u = uint64(binary.NativeEndian.Uint32(b))
	case 8:
		u = binary.NativeEndian.Uint64(b)
	default:
		return 0, false
	}
	if f.signed {
		shift := 64 - 8*f.size
		return int64(u<<shift) >> shift, true
	}
	return int64(u), true
}
