package files

import (
	"archive/tar"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/klauspost/compress/zstd"

	"stallmark/collectors"
)

// Tick is one beat of a recording.
type Tick struct {
	Number int
	At     time.Time // UTC, after that of the tick before
	Root   collectors.Root
	Facts  map[string]string // facts that were new or had changed when it was recorded
}

// Recording is a recording that is open for reading. It is read once, from
// beginning to end, with a few ticks in memory at a time.
type Recording struct {
	meta   Meta
	src    *assembler
	peeked []Tick
	failed error // what followed the peeked ticks
}

// peek is how many ticks are read on opening, to learn the interval of a
// recording that does not say it.
const peek = 4

// Open opens a recording: a .tar.zst or .tar file, a folder that holds a
// 1s.tar.zst, or an extracted recording. What a file is, is told by its
// content. Errors wrap [ErrNotRecording], [ErrLimit] or an error of package fs.
func Open(name string, limits Limits) (*Recording, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return openFile(name, limits)
	}
	rec, err := openFile(filepath.Join(name, "1s.tar.zst"), limits)
	if !errors.Is(err, fs.ErrNotExist) {
		return rec, err
	}
	folder, err := newFolderEntries(name, limits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return start(folder, limits)
}

func openFile(name string, limits Limits) (*Recording, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	rec, err := newReader(f, limits, f.Close)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return rec, nil
}

// NewReader reads a recording from a stream, for instance one sent to the page.
func NewReader(r io.Reader, limits Limits) (*Recording, error) {
	return newReader(r, limits, func() error { return nil })
}

// The marks by which a file's content is told.
const (
	zstdMagic = "\x28\xb5\x2f\xfd"
	tarMagic  = "ustar"
	tarOffset = 257
)

// LooksLikeRecording reports whether data that begins so can be a recording.
func LooksLikeRecording(head []byte) bool {
	return bytes.HasPrefix(head, []byte(zstdMagic)) || len(head) > tarOffset && bytes.HasPrefix(head[tarOffset:], []byte(tarMagic))
}

func newReader(r io.Reader, limits Limits, closeFile func() error) (*Recording, error) {
	in := bufio.NewReader(r)
	plain, closeAll := io.Reader(in), closeFile
	if head, _ := in.Peek(len(zstdMagic)); string(head) == zstdMagic {
		dec, err := newDecoder(in)
		if err != nil {
			return nil, errors.Join(err, closeFile())
		}
		plain = dec
		closeAll = func() error { dec.Close(); return closeFile() }
	}
	body := bufio.NewReaderSize(&meter{plain, limits.Total}, 64<<10)
	head, err := body.Peek(tarOffset + len(tarMagic))
	if len(head) <= tarOffset || !bytes.HasPrefix(head[tarOffset:], []byte(tarMagic)) {
		if err == nil || errors.Is(err, io.EOF) {
			err = errors.New("neither a tar nor a zstd-compressed one")
		}
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrNotRecording, err), closeAll())
	}
	return start(&tarEntries{tar.NewReader(body), limits, closeAll}, limits)
}

// newDecoder decompresses on the reader's own goroutine, so that everything
// before a cut is delivered, in little memory.
func newDecoder(r io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(
		r,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(64<<20),
	)
}

// start reads the first ticks and the meta data.
func start(src entries, limits Limits) (*Recording, error) {
	r := &Recording{src: newAssembler(src, limits)}
	for len(r.peeked) < peek && r.failed == nil {
		tick, err := r.src.next()
		if err != nil {
			r.failed = err
			break
		}
		r.peeked = append(r.peeked, tick)
	}
	if len(r.peeked) == 0 {
		return nil, errors.Join(notARecording(r.failed), src.Close())
	}
	if r.meta = r.src.meta; r.meta.Format == 0 {
		r.meta = oldMeta(r.peeked)
	}
	return r, nil
}

// notARecording says why there is not even one tick.
func notARecording(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("no whole tick in it: %w", ErrNotRecording)
	case errors.Is(err, tar.ErrHeader), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, errHostileName):
		return fmt.Errorf("%w: %w", ErrNotRecording, err)
	}
	return err
}

// oldMeta describes the host of the layout without meta.json. The interval is
// the shortest distance of the first ticks, in tenths of a second: a tick can be
// late, never early.
func oldMeta(ticks []Tick) Meta {
	interval := time.Duration(0)
	for i := 1; i < len(ticks); i++ {
		gap := ticks[i].At.Sub(ticks[i-1].At)
		if interval == 0 || gap < interval {
			interval = gap
		}
	}
	if interval == 0 {
		interval = time.Second
	}
	interval = min(max(interval.Round(collectors.MinInterval), collectors.MinInterval), time.Hour)
	return Meta{
		Start:      ticks[0].At,
		IntervalMS: interval.Milliseconds(),
		PageSize:   defaultPageSize,
		ClockTicks: defaultClockTicks,
	}
}

// Meta describes the host and the recording.
func (r *Recording) Meta() Meta { return r.meta }

// Ticks yields the ticks in order, once. A tick is valid until the next one is
// asked for. An error ends it; a recording that was cut off ends without one,
// see [Recording.Notes].
func (r *Recording) Ticks() iter.Seq2[Tick, error] {
	return func(yield func(Tick, error) bool) {
		for _, tick := range r.peeked {
			if !yield(tick, nil) {
				return
			}
		}
		r.peeked = nil
		for {
			if r.failed != nil {
				break
			}
			tick, err := r.src.next()
			if err != nil {
				r.failed = err
				break
			}
			if !yield(tick, nil) {
				return
			}
		}
		if !errors.Is(r.failed, io.EOF) {
			yield(Tick{}, r.failed)
		}
	}
}

// Notes says what had to be passed over so far: a cut end, ticks that went back
// in time.
func (r *Recording) Notes() []string { return r.src.notes }

// Close closes the file.
func (r *Recording) Close() error { return r.src.entries.Close() }
