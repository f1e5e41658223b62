package gclog

import (
	"bufio"
	"errors"
	"io"
	"time"
)

// MaxLine is how much of a line is looked at, in bytes; the rest of a longer one
// is passed over.
const MaxLine = 64 << 10

// Read feeds all lines of r, a file at rest. A last line without an end is fed
// too. The error is that of r; what was read before it counts.
func (p *Parser) Read(r io.Reader) error {
	lines := bufio.NewReaderSize(r, MaxLine)
	for {
		line, err := lines.ReadSlice('\n')
		if len(line) > 0 {
			p.Feed(line, time.Time{})
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = lines.ReadSlice('\n')
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
