package work

import (
	"fmt"
	"math/rand/v2"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

func pointer(p *byte) uintptr { return uintptr(unsafe.Pointer(p)) }

// page is the size of a page, bytes.
func page() int64 { return int64(os.Getpagesize()) }

// anonymous maps fresh memory, outside of the Go heap.
func anonymous(size int64) ([]byte, error) {
	m, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes: %w", size, err)
	}
	return m, nil
}

// touch writes to every page, with content that is neither all the same nor
// the same as another page's: such pages are not really swapped.
func touch(m []byte, mark uint64) {
	for i := int64(0); i < int64(len(m)); i += page() {
		mark += 0x9e3779b97f4a7c15
		*(*uint64)(unsafe.Pointer(&m[i])) = mark
		m[i+page()/2] = byte(mark >> 56)
	}
}

// somewhere is a random multiple of step below size.
func somewhere(size, step int64) int64 {
	return rand.Int64N(max(size/step, 1)) * step
}
