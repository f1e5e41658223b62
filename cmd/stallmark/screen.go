package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// screen is what is known about the place that text is written to.
type screen struct {
	width    int // columns
	terminal bool
	verbose  bool // all rows, however many
}

// The bounds within which a report follows the terminal's width.
const (
	minWidth     = 48
	maxWidth     = 120
	defaultWidth = 100
)

// screenOf asks the terminal for its width. Anything else gets no colour.
func screenOf(f *os.File) screen {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return screen{width: defaultWidth}
	}
	width := int(size.Col)
	if width == 0 {
		width = defaultWidth
	}
	return screen{width: min(max(width, minWidth), maxWidth), terminal: true}
}

// saying is the screen with all rows or the most telling.
func (s screen) saying(verbose bool) screen {
	s.verbose = verbose
	return s
}
