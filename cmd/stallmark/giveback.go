package main

import (
	"bytes"
	"os"
	"reflect"
	"strconv"

	"golang.org/x/sys/unix"
)

// ownMaps lists what is mapped into this process.
const ownMaps = "/proc/self/maps"

// giveBack takes the pages of the program's file out of this process's memory. The
// initialisation of all packages has touched most of them, and the kernel has mapped
// the 64 KiB around each (fault_around_bytes); what is used from now on comes back
// from the page cache at the first use. No pages may be locked meanwhile.
func giveBack() {
	maps, err := os.ReadFile(ownMaps)
	if err != nil {
		return
	}
	for _, m := range programMappings(maps, reflect.ValueOf(giveBack).Pointer()) {
		// No pointer of ours: the address is the kernel's word. A refusal costs memory and nothing else.
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.from, m.to-m.from, unix.MADV_DONTNEED)
	}
}

// mapping is a range of addresses.
type mapping struct{ from, to uintptr }

// programMappings are the mappings, never written to, of the file in which the code
// at the address is. The format is that of proc_pid_maps(5).
func programMappings(maps []byte, code uintptr) []mapping {
	byFile := map[string][]mapping{}
	var ours string
	for line := range bytes.Lines(maps) {
		f := bytes.Fields(line)
		if len(f) < 6 || len(f[1]) < 2 {
			continue // nobody's file
		}
		first, last, _ := bytes.Cut(f[0], []byte("-"))
		from, err := strconv.ParseUint(string(first), 16, strconv.IntSize)
		to, err2 := strconv.ParseUint(string(last), 16, strconv.IntSize)
		if err != nil || err2 != nil || to <= from || f[1][0] != 'r' || f[1][1] == 'w' {
			continue
		}
		file := string(f[3]) + " " + string(f[4]) // device and inode
		m := mapping{uintptr(from), uintptr(to)}
		byFile[file] = append(byFile[file], m)
		if m.from <= code && code < m.to {
			ours = file
		}
	}
	return byFile[ours]
}
