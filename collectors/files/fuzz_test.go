package files

import (
	"bytes"
	"io"
	"testing"
	"time"
)

func FuzzReader(f *testing.F) {
	f.Add(tarOf(f, good()...))
	f.Add(tarOf(f, file{"x/000000/proc/vmstat", "a 1\n"}, file{"x/000000/meta", "tick 0\nreal_ns 1796082653358571429\n"}))
	f.Add(tarOf(f, good()[0], file{"000000/.dirs", `{"proc":["1","../x"]}`}, file{"000000/.errors", `{"proc/a":"EACCES"}`}, good()[1]))
	f.Fuzz(func(t *testing.T, data []byte) {
		limits := Limits{File: 1 << 16, Tick: 1 << 18, Entries: 100, Ticks: 100, Total: 1 << 20}
		rec, err := NewReader(bytes.NewReader(data), limits)
		if err != nil {
			return
		}
		defer rec.Close()
		var last time.Time
		for tick, err := range rec.Ticks() {
			if err != nil {
				return
			}
			if !tick.At.After(last) {
				t.Fatalf("tick at %v after %v", tick.At, last)
			}
			last = tick.At
			list, _ := tick.Root.ReadDir("proc")
			for _, name := range list {
				if !plainChild(name) {
					t.Fatalf("folder with %q in it", name)
				}
				_, _ = tick.Root.Read("proc/"+name, nil)
				_, _ = tick.Root.ReadLink("proc/" + name)
			}
		}
	})
}

func FuzzTick(f *testing.F) {
	f.Add("000001/.dirs", `{"proc":["1","../x"]}`)
	f.Add("000001/.errors", `{"proc/a":"EACCES"}`)
	f.Add("000001/facts.json", `{"a":"b"}`)
	f.Add("000001/at", "2026-03-01T03:12:01Z")
	f.Add("meta.json", goodMeta)
	f.Add("x/000000/meta", "real_ns 1796082653358571429")
	f.Fuzz(func(t *testing.T, name, body string) {
		src := &listEntries{{name: "000000/at", data: []byte("2026-03-01T03:12:00Z")}, {name: name, data: []byte(body)}}
		rec, err := start(src, DefaultLimits())
		if err != nil {
			return
		}
		for tick, err := range rec.Ticks() {
			if err != nil {
				return
			}
			for _, dir := range []string{"proc", "sys", "."} {
				list, _ := tick.Root.ReadDir(dir)
				for _, child := range list {
					_, _ = tick.Root.Read(dir+"/"+child, nil)
				}
			}
		}
	})
}

// listEntries are entries from a list.
type listEntries []entry

func (l *listEntries) next() (entry, error) {
	if len(*l) == 0 {
		return entry{}, io.EOF
	}
	e := (*l)[0]
	*l = (*l)[1:]
	return e, nil
}

func (l *listEntries) Close() error { return nil }
