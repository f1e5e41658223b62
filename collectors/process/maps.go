package process

import (
	"bytes"
	"fmt"
	"path"
	"strings"
)

// mapsInfo is what the mappings of a process tell.
type mapsInfo struct {
	count       int
	allocator   string // jemalloc, tcmalloc, mimalloc or glibc; empty if not known
	store       string // folder of mapped message files
	storeNumber string // device number of these files, "254:1"
}

// allocators are told by the library that is mapped. One linked into the
// executable does not show.
var allocators = []struct{ file, name string }{
	{"jemalloc", "jemalloc"}, {"tcmalloc", "tcmalloc"}, {"mimalloc", "mimalloc"},
}

// parseMaps reads /proc/PID/maps:
//
//	7f10a0000000-7f10e0000000 rw-s 00000000 fd:01 1048602  /data/store/commitlog/00000000000000000000
func parseMaps(b []byte) mapsInfo {
	var m mapsInfo
	last := []byte(nil)
	for len(b) > 0 {
		var line []byte
		line, b = cutLine(b)
		if len(line) == 0 {
			continue
		}
		m.count++
		device, file := mappedFile(line)
		if len(file) == 0 || file[0] != '/' || bytes.Equal(file, last) {
			continue
		}
		last = file
		m.library(file)
		if m.store == "" {
			m.segment(device, file)
		}
	}
	return m
}

// mappedFile returns the device and the file of a line, empty without a file.
func mappedFile(line []byte) (device, file []byte) {
	for i := range 5 { // range, permissions, offset, device, inode
		var word []byte
		word, line = nextField(line)
		if i == 3 {
			device = word
		}
	}
	return device, bytes.TrimSuffix(bytes.TrimSpace(line), []byte(" (deleted)"))
}

// library notes an allocator. A preloaded one goes before the C library's own.
func (m *mapsInfo) library(file []byte) {
	base := file[bytes.LastIndexByte(file, '/')+1:]
	if !bytes.HasPrefix(base, []byte("lib")) || !bytes.Contains(base, []byte(".so")) {
		return
	}
	for _, a := range allocators {
		if bytes.Contains(base, []byte(a.file)) {
			m.allocator = a.name
			return
		}
	}
	if m.allocator == "" && (bytes.HasPrefix(base, []byte("libc.so")) || bytes.HasPrefix(base, []byte("libc-2."))) {
		m.allocator = "glibc"
	}
}

// segmentDigits is the length of the names of segment files, offsets with
// leading zeros, in RocketMQ as in Kafka.
const segmentDigits = 20

// segment notes the data folder if the file is a message file:
// STORE/commitlog/00000000001073741824 of RocketMQ, or
// LOGDIR/topic-0/00000000000000000000.index of Kafka.
func (m *mapsInfo) segment(device, file []byte) {
	name := string(file)
	dir, base := path.Split(name)
	dir = path.Clean(dir)
	digits, suffix, _ := strings.Cut(base, ".")
	if len(digits) != segmentDigits || strings.Trim(digits, "0123456789") != "" {
		return
	}
	switch {
	case !kindPath.fits(name):
		return
	case suffix == "" && path.Base(dir) == "commitlog":
		m.store = dir
	case suffix == "index" || suffix == "timeindex":
		m.store = path.Dir(dir)
	default:
		return
	}
	major, minor, _ := bytes.Cut(device, []byte(":"))
	m.storeNumber = fmt.Sprintf("%d:%d", parseHex(major), parseHex(minor))
}

// parseHex reads a short hexadecimal number, 0 if it is none.
func parseHex(b []byte) uint64 {
	var v uint64
	if len(b) > 8 {
		return 0
	}
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9':
			v = v<<4 + uint64(c-'0')
		case c >= 'a' && c <= 'f':
			v = v<<4 + uint64(c-'a') + 10
		default:
			return 0
		}
	}
	return v
}
