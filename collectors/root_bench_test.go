package collectors

import (
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// BenchmarkLiveRead compares a file that is opened for each reading with one
// that is kept open.
func BenchmarkLiveRead(b *testing.B) {
	tid := strconv.Itoa(unix.Gettid())
	for _, name := range []string{"proc/vmstat", "proc/loadavg", "proc/pressure/io", "proc/self/stat", "proc/" + tid + "/task/" + tid + "/schedstat", "proc/sys/vm/swappiness"} {
		r := NewLiveRoot(Paths{Procfs: "/proc"})
		var buf []byte
		var err error
		b.Run("open/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if buf, err = r.readOnce(name, buf); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("kept/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if buf, err = r.Read(name, buf); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkLiveReadDir lists a folder with an entry a thread.
func BenchmarkLiveReadDir(b *testing.B) {
	r := NewLiveRoot(Paths{Procfs: "/proc"})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.ReadDir("proc/self/task"); err != nil {
			b.Fatal(err)
		}
	}
}
