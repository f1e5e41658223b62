package trace

import (
	"encoding/binary"
	"os"
	"strings"
	"testing"

	"stallmark/collectors"
)

// testTree is a host with the tracepoints of 6.18.
func testTree(t testing.TB) *collectors.MapRoot {
	t.Helper()
	text, err := os.ReadFile("testdata/tree.txt")
	if err != nil {
		t.Fatal(err)
	}
	root, err := collectors.ParseMapRoot(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

const dirtyFormat = "sys/kernel/tracing/events/writeback/balance_dirty_pages/format"

func TestParseFormat(t *testing.T) {
	f, err := parseFormat(testTree(t).Files[dirtyFormat])
	if err != nil {
		t.Fatal(err)
	}
	if f.id != 985 || len(f.fields) != 19 {
		t.Errorf("id %d with %d fields, want 985 with 19", f.id, len(f.fields))
	}
	want := map[string]field{
		"common_type":   {0, 2, false},
		"bdi":           {8, 32, false},
		"dirtied_pause": {100, 4, false},
		"paused":        {104, 8, false},
		"pause":         {112, 8, true},
		"cgroup_ino":    {136, 8, false},
	}
	for name, fd := range want {
		if f.fields[name] != fd {
			t.Errorf("%s: %+v, want %+v", name, f.fields[name], fd)
		}
	}
}

func TestParseFormatOfOldKernels(t *testing.T) {
	// 2.6.32 does not say signed; a pointer and a 32-bit long.
	f, err := parseFormat([]byte("name: x\nID: 7\nformat:\n\tfield:const char *name;\toffset:8;\tsize:4;\n\n" +
		"\tfield:long pause;\toffset:12;\tsize:4;\n\nprint fmt: \"field:x\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if f.fields["pause"] != (field{12, 4, false}) || f.fields["name"] != (field{8, 4, false}) {
		t.Errorf("fields %+v", f.fields)
	}
}

func TestParseFormatRefuses(t *testing.T) {
	for _, text := range []string{
		"", "name: x\n", "ID: many\n", "ID: 65536\n", "ID: 0\n",
		"ID: 1\n\tfield:long pause;\toffset:x;\tsize:8;\n",
		"ID: 1\n\tfield:long pause;\toffset:8;\tsize:9000;\n",
		"ID: 1\n\tfield:long pause;\toffset:-8;\tsize:8;\n",
		"ID: 1\n\tfield:long pause;\tsize:8;\n",
		"ID: 1\n\tfield:pause;\toffset:8;\tsize:8;\n",
	} {
		if f, err := parseFormat([]byte(text)); err == nil {
			t.Errorf("%q gave %+v", text, f)
		}
	}
}

func TestFieldValue(t *testing.T) {
	var raw []byte
	raw = binary.NativeEndian.AppendUint64(raw, 1<<64-2)
	raw = binary.NativeEndian.AppendUint32(raw, 1<<32-3)
	raw = binary.NativeEndian.AppendUint16(raw, 1<<16-4)
	raw = append(raw, 5)
	tests := []struct {
		f    field
		want int64
		ok   bool
	}{
		{field{0, 8, true}, -2, true},
		{field{8, 4, true}, -3, true},
		{field{8, 4, false}, 1<<32 - 3, true},
		{field{12, 2, true}, -4, true},
		{field{12, 2, false}, 1<<16 - 4, true},
		{field{14, 1, false}, 5, true},
		{field{8, 8, false}, 0, false}, // beyond the end
		{field{0, 3, false}, 0, false},
		{field{0, 0, false}, 0, false},
		{field{-1, 4, false}, 0, false},
	}
	for _, tt := range tests {
		if got, ok := tt.f.value(raw); ok != tt.ok || got != tt.want {
			t.Errorf("%+v: %d, %v; want %d, %v", tt.f, got, ok, tt.want, tt.ok)
		}
	}
}

func FuzzParseFormat(f *testing.F) {
	for name, data := range testTree(f).Files {
		if strings.HasSuffix(name, "/format") {
			f.Add(data)
		}
	}
	f.Add([]byte("ID: 1\n\tfield:a b;offset:1;size:1;signed:1;"))
	raw := make([]byte, 256)
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := parseFormat(data)
		if err != nil {
			return
		}
		for name, fd := range got.fields {
			if name == "" || fd.offset < 0 || fd.size <= 0 {
				t.Errorf("field %q: %+v", name, fd)
			}
			fd.value(raw) // must not reach beyond
		}
	})
}
