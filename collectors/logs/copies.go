package logs

import (
	"compress/gzip"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// maxUnpacked bounds what is read of one compressed file.
const maxUnpacked = 4 << 30

// unpack opens a compressed file for reading; what it is, its name tells.
func unpack(r io.Reader, name string) (io.ReadCloser, error) {
	if strings.HasSuffix(name, ".gz") {
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, err
		}
		return z, nil
	}
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(64<<20))
	if err != nil {
		return nil, err
	}
	return z.IOReadCloser(), nil
}

// holds reports whether a file holds what a mark was made of.
func (d *folder) holds(m member, k mark) bool {
	if !m.packed && m.size < k.Offset {
		return false
	}
	f, err := d.openMember(m)
	if err != nil {
		return false
	}
	defer f.Close()
	if !m.packed {
		return k.matches(f)
	}
	z, err := unpack(f, m.name)
	if err != nil {
		return false
	}
	defer z.Close()
	return k.skip(io.LimitReader(z, maxUnpacked))
}

// readCopy hands on what a file holds behind a mark, to its end.
func (d *folder) readCopy(s *stream, m member, k mark, skipping bool) {
	if m.packed {
		d.readPacked(s, m, k)
		return
	}
	f, err := d.openMember(m)
	if err != nil {
		s.problem = err
		return
	}
	defer f.Close()
	p, err := newPart(f, m.name, k.Offset, d.now())
	if err != nil {
		s.problem = err
		return
	}
	p.skipping = skipping
	d.drain(s, p)
}

// drain reads a part to its end and its last line too.
func (d *folder) drain(s *stream, p *part) {
	buf := d.buffer(bufferSize)
	for {
		result, n, err := p.read(s.feeder, buf, readBudget, d.cfg.Tap)
		d.spend(s, n)
		if result != more || err != nil {
			break
		}
	}
	p.finish(s.feeder, buf, d.cfg.Tap)
}

// readPacked hands on what a compressed file holds behind a mark.
func (d *folder) readPacked(s *stream, m member, k mark) {
	f, err := d.openMember(m)
	if err != nil {
		s.problem = err
		return
	}
	defer f.Close()
	z, err := unpack(f, m.name)
	if err != nil {
		s.problem = err
		return
	}
	defer z.Close()
	r := io.LimitReader(z, maxUnpacked)
	if k.Offset > 0 && !k.skip(r) {
		return
	}
	d.pour(s, r, m.name, k.Offset)
}

// pour feeds a stream of bytes, the last line included.
func (d *folder) pour(s *stream, r io.Reader, name string, offset int64) {
	s.feeder.split.skipping = false
	n := feedAll(s.feeder, r, d.buffer(bufferSize), name, offset, d.cfg.Tap)
	d.spend(s, int(n))
}

// feedAll feeds everything that a reader gives and returns how many bytes that
// was. Damage ends it as an end does: what came before counts.
func feedAll(f *feeder, r io.Reader, buf []byte, name string, offset int64, tap tapFunc) int64 {
	began := offset
	have := 0
	for {
		n, err := io.ReadFull(r, buf[have:])
		have += n
		last := err != nil
		done := f.feed(buf[:have], name, offset, last)
		if tap != nil && done > 0 {
			tap(f.file, name, offset, buf[:done], f.live)
		}
		offset += int64(done)
		have = copy(buf, buf[done:have])
		if last {
			return offset - began
		}
	}
}
