package files

import (
	"errors"
	"fmt"
	"io"
)

// Limits bound what reading a recording may cost. An archive can come from
// anybody.
type Limits struct {
	File    int64 // bytes of one file in a tick
	Tick    int64 // bytes of one tick, names included
	Entries int   // files, links and folders of one tick
	Ticks   int   // ticks
	Total   int64 // bytes of the whole, decompressed
}

// DefaultLimits leave room for a host with thousands of threads and a day of
// beats, and keep a decompression bomb to minutes and 64 MiB of memory.
func DefaultLimits() Limits {
	return Limits{File: 8 << 20, Tick: 64 << 20, Entries: 200_000, Ticks: 200_000, Total: 64 << 30}
}

// ErrLimit is wrapped by errors about a recording that is larger than its
// limits.
var ErrLimit = errors.New("over the limit for recordings")

// ErrNotRecording is wrapped by errors about something that is no recording.
var ErrNotRecording = errors.New("not a recording")

// errHostileName is wrapped by errors about names that leave the archive.
var errHostileName = errors.New("name leaves the archive")

// refused reports whether err is a refusal and not damage: what was read
// before is then no verdict either.
func refused(err error) bool {
	return errors.Is(err, ErrLimit) || errors.Is(err, errHostileName)
}

// meter fails once more than left bytes have been read.
type meter struct {
	r    io.Reader
	left int64
}

// Read implements io.Reader.
func (m *meter) Read(p []byte) (int, error) {
	if m.left <= 0 {
		return 0, fmt.Errorf("decompressed size: %w", ErrLimit)
	}
	if int64(len(p)) > m.left {
		p = p[:m.left]
	}
	n, err := m.r.Read(p)
	m.left -= int64(n)
	return n, err
}
