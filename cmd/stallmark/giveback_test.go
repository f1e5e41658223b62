package main

import (
	"os"
	"reflect"
	"slices"
	"testing"
)

const someMaps = `00400000-00e73000 r-xp 00000000 fe:00 1234     /usr/local/bin/stallmark
00e73000-01900000 r--p 00a73000 fe:00 1234     /usr/local/bin/stallmark
01900000-01983000 rw-p 01500000 fe:00 1234     /usr/local/bin/stallmark
01983000-039cd000 rw-p 00000000 00:00 0
c000000000-c000800000 rw-p 00000000 00:00 0
7f0000000000-7f0000100000 r--s 00000000 fe:00 99       /var/lib/stallmark/stallmark.db
7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0        [stack]
7ffc000fe000-7ffc00100000 r-xp 00000000 00:00 0        [vdso]
damaged-line r-xp 00000000 fe:00 1234 x
`

func TestProgramMappings(t *testing.T) {
	want := []mapping{{0x400000, 0xe73000}, {0xe73000, 0x1900000}}
	for code, want := range map[uintptr][]mapping{0x401000: want, 0x400000: want, 0xe73000: want, 0x1901000: nil, 0x1: nil} {
		if got := programMappings([]byte(someMaps), code); !slices.Equal(got, want) {
			t.Errorf("code at %#x: %#x, want %#x", code, got, want)
		}
	}
	if got := programMappings(nil, 1); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}

// TestGiveBack goes on running in pages that are not mapped any more.
func TestGiveBack(t *testing.T) {
	maps, err := os.ReadFile(ownMaps)
	if err != nil {
		t.Skip(err)
	}
	if len(programMappings(maps, reflect.ValueOf(giveBack).Pointer())) == 0 {
		t.Errorf("the program is in none of\n%s", maps)
	}
	giveBack()
	giveBack()
}
