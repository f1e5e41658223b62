package work

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/cmd/stalldrill/host"
)

const (
	bite = 16 * mib
	// A bite takes 10 ms on a machine with free memory. One that takes this
	// long says that memory is not to be had.
	stalledBite = 2 * time.Second
)

// eater holds memory down to a floor that others keep.
type eater struct {
	host    host.Host
	floor   int64
	held    [][]byte
	stalled bool // it once waited too long: it grows no more
}

// openEat takes memory until Floor bytes are available, before the drill
// begins; each operation then holds it there.
func openEat(h host.Host, t Task) (operation, error) {
	if t.Floor <= 0 {
		return nil, fmt.Errorf("an eater needs a floor")
	}
	e := &eater{host: h, floor: t.Floor}
	for {
		grew, err := e.adjust()
		if err != nil {
			return nil, err
		}
		if !grew {
			return func() error { _, err := e.adjust(); return err }, nil
		}
	}
}

// adjust takes a bite or gives back some, and tells whether it grew.
func (e *eater) adjust() (bool, error) {
	m, err := e.host.ReadMemory()
	if err != nil {
		return false, err
	}
	switch {
	case m.Available < e.floor:
		return false, e.release(int((e.floor-m.Available)/bite) + 1)
	case m.Available-bite > e.floor && !e.stalled:
		return true, e.grow()
	}
	return false, nil
}

func (e *eater) grow() error {
	m, err := anonymous(bite)
	if err != nil {
		return err
	}
	_ = unix.Madvise(m, unix.MADV_NOHUGEPAGE)
	start := time.Now()
	touch(m, uint64(len(e.held)))
	e.held = append(e.held, m)
	if time.Since(start) > stalledBite {
		e.stalled = true
		return e.release(len(e.held)/4 + 1)
	}
	return nil
}

func (e *eater) release(n int) error {
	for ; n > 0 && len(e.held) > 0; n-- {
		last := len(e.held) - 1
		if err := unix.Munmap(e.held[last]); err != nil {
			return err
		}
		e.held = e.held[:last]
	}
	return nil
}
