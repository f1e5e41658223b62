package block

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/klauspost/compress/zstd"
)

// Version is the format that Encode writes.
const Version = 1

// Limits of a block that is read: what is beyond is taken for damage.
const (
	maxRows    = 1 << 16
	maxColumns = 1 << 20
	maxFrame   = 64 << 20 // decompressed
)

// How many columns share a frame. More compress better, fewer are read faster: a
// minute is soon put together with others, while what it becomes is read often.
const (
	WideFrames   = 256
	NarrowFrames = 64
)

const prefix = 1 + 4 + 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrNewer is for a block that a later version has written.
var ErrNewer = errors.New("block of a newer version")

// Encoder encodes blocks. It keeps buffers and is for one goroutine.
type Encoder struct {
	zstd *zstd.Encoder
	enc  encoder
	raw  []byte
}

// NewEncoder makes an encoder. Its tables stay in memory: 1.5 MB at this level; at
// the next it is 4 MB more, for blocks that are a little smaller.
func NewEncoder() *Encoder {
	z, err := zstd.NewWriter(nil,
		zstd.WithEncoderLevel(zstd.SpeedDefault),
		zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithWindowSize(256<<10), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic("zstd options: " + err.Error()) // constants: cannot happen
	}
	return &Encoder{zstd: z}
}

// Compressor is what compresses the frames, for other small things too. It may be
// used by several goroutines; one waits for the other.
func (e *Encoder) Compressor() *zstd.Encoder { return e.zstd }

// Encode appends the block of the columns to dst. Times are milliseconds,
// ascending, at most 65,536; columns are in ascending order of their ids.
func (e *Encoder) Encode(dst []byte, times []int64, columns []Column) []byte {
	return e.EncodeFrames(dst, times, columns, WideFrames)
}

// EncodeFrames is Encode with so many columns to a frame.
func (e *Encoder) EncodeFrames(dst []byte, times []int64, columns []Column, frameColumns int) []byte {
	ids := make([]uint32, len(columns))
	for i, c := range columns {
		ids[i] = c.ID
	}
	// The error is that of the function, which has none.
	dst, _ = e.EncodeEach(dst, times, ids, frameColumns, func(from, to int) ([]Column, error) { return columns[from:to], nil })
	return dst
}

// EncodeEach is EncodeFrames of columns that are never all in memory: it calls
// columns with the first and the end of a range of ids, once a frame, and is done
// with those columns when it calls it again. The error is the function's.
func (e *Encoder) EncodeEach(
	dst []byte, times []int64, ids []uint32, frameColumns int, columns func(from, to int) ([]Column, error),
) ([]byte, error) {
	head := appendTimes(nil, times)
	head = appendIDs(head, ids)
	frames := make([]byte, 0, 4<<10)
	head = binary.AppendUvarint(head, uint64((len(ids)+frameColumns-1)/frameColumns))
	for from := 0; from < len(ids); from += frameColumns {
		to := min(from+frameColumns, len(ids))
		c, err := columns(from, to)
		if err != nil {
			return dst, err
		}
		raw := e.frame(c, len(times))
		start := len(frames)
		frames = e.zstd.EncodeAll(raw, frames)
		head = binary.AppendUvarint(head, uint64(to-from))
		head = binary.AppendUvarint(head, uint64(len(raw)))
		head = binary.AppendUvarint(head, uint64(len(frames)-start))
		head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(frames[start:], castagnoli))
	}
	dst = append(dst, Version)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(head)))
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(head, castagnoli))
	dst = append(dst, head...)
	return append(dst, frames...), nil
}

// frame is the uncompressed frame of the columns.
func (e *Encoder) frame(columns []Column, rows int) []byte {
	e.enc.heads, e.enc.bodies = e.enc.heads[:0], e.enc.bodies[:0]
	for _, c := range columns {
		e.enc.add(c, rows)
	}
	e.raw = binary.AppendUvarint(e.raw[:0], uint64(len(e.enc.heads)))
	e.raw = append(e.raw, e.enc.heads...)
	e.raw = append(e.raw, e.enc.bodies...)
	return e.raw
}

// appendTimes stores the time column as differences of differences.
func appendTimes(b []byte, times []int64) []byte {
	b = binary.AppendUvarint(b, uint64(len(times)))
	prev, delta := int64(0), int64(0)
	for _, t := range times {
		d := t - prev
		b = binary.AppendUvarint(b, zigzag(d-delta))
		prev, delta = t, d
	}
	return b
}

// appendIDs stores the ids as runs of consecutive ones.
func appendIDs(b []byte, ids []uint32) []byte {
	b = binary.AppendUvarint(b, uint64(len(ids)))
	next := uint32(0)
	for i := 0; i < len(ids); {
		run := 1
		for i+run < len(ids) && ids[i+run] == ids[i]+uint32(run) {
			run++
		}
		b = binary.AppendUvarint(b, uint64(ids[i]-next))
		b = binary.AppendUvarint(b, uint64(run))
		next = ids[i] + uint32(run)
		i += run
	}
	return b
}

// Block is an opened block. It refers to the bytes that it was opened from.
type Block struct {
	Times  []int64
	IDs    []uint32 // of its columns, ascending
	frames []frame
}

// frame is one entry of the directory.
type frame struct {
	columns, raw int
	sum          uint32
	data         []byte
}

// Open reads the head of a block. The columns are decoded by [Block.Columns].
func Open(b []byte) (*Block, error) {
	if len(b) < prefix {
		return nil, fmt.Errorf("%w: %d bytes", errDamaged, len(b))
	}
	if b[0] > Version {
		return nil, fmt.Errorf("%w: %d", ErrNewer, b[0])
	}
	n := binary.LittleEndian.Uint32(b[1:])
	if b[0] != Version || uint64(n) > uint64(len(b)-prefix) {
		return nil, fmt.Errorf("%w: no head", errDamaged)
	}
	head, rest := b[prefix:prefix+n], b[prefix+n:]
	if crc32.Checksum(head, castagnoli) != binary.LittleEndian.Uint32(b[5:]) {
		return nil, fmt.Errorf("%w: checksum of the head", errDamaged)
	}
	c := &cursor{b: head}
	blk := &Block{Times: readTimes(c), IDs: readIDs(c)}
	blk.readFrames(c, rest)
	if c.bad {
		return nil, fmt.Errorf("%w: head", errDamaged)
	}
	return blk, nil
}

func readTimes(c *cursor) []int64 {
	n := c.count(min(maxRows, len(c.b)))
	times := make([]int64, n)
	prev, delta := int64(0), int64(0)
	for i := range times {
		delta += unzigzag(c.uvarint())
		prev += delta
		times[i] = prev
	}
	return times
}

func readIDs(c *cursor) []uint32 {
	ids := make([]uint32, c.count(maxColumns)) // the head's checksum was right
	next := uint64(0)
	for left := ids; len(left) > 0 && !c.bad; {
		next += c.uvarint()
		run := left[:c.count(len(left))]
		for i := range run {
			run[i] = uint32(next)
			next++
		}
		left = left[len(run):]
		if next > 1<<32 {
			c.fail()
		}
	}
	return ids
}

// readFrames reads the directory and slices the frames out of data.
func (b *Block) readFrames(c *cursor, data []byte) {
	columns := 0
	for n := c.count(len(b.IDs)); n > 0 && !c.bad; n-- {
		f := frame{columns: c.count(len(b.IDs) - columns), raw: c.count(maxFrame)}
		size := c.count(len(data))
		sum := c.take(4)
		if sum == nil {
			return
		}
		f.sum = binary.LittleEndian.Uint32(sum)
		f.data, data = data[:size], data[size:]
		columns += f.columns
		b.frames = append(b.frames, f)
	}
	if columns != len(b.IDs) {
		c.fail()
	}
}

// Decoder decodes the columns of blocks. It keeps buffers and is for one
// goroutine.
type Decoder struct {
	zstd *zstd.Decoder
	raw  []byte
}

// NewDecoder makes a decoder.
func NewDecoder() *Decoder {
	z, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxFrame), zstd.WithDecoderLowmem(true))
	if err != nil {
		panic("zstd options: " + err.Error()) // constants: cannot happen
	}
	return &Decoder{zstd: z}
}

// Close frees the decoder.
func (d *Decoder) Close() { d.zstd.Close() }

// Columns decodes the wanted columns and calls f with each, in the order of
// their ids. A damaged frame does not keep the others from being read; the
// error names the first.
func (d *Decoder) Columns(b *Block, want func(id uint32) bool, f func(Column)) error {
	var first error
	ids := b.IDs
	for i, fr := range b.frames {
		if err := d.frame(fr, ids[:fr.columns], len(b.Times), want, f); err != nil && first == nil {
			first = fmt.Errorf("frame %d: %w", i, err)
		}
		ids = ids[fr.columns:]
	}
	return first
}

// frame decodes the wanted columns of one frame.
func (d *Decoder) frame(fr frame, ids []uint32, rows int, want func(uint32) bool, f func(Column)) error {
	last := -1
	for i, id := range ids {
		if want(id) {
			last = i
		}
	}
	if last < 0 {
		return nil
	}
	if crc32.Checksum(fr.data, castagnoli) != fr.sum {
		return fmt.Errorf("%w: checksum", errDamaged)
	}
	raw, err := d.zstd.DecodeAll(fr.data, d.raw[:0])
	if err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	d.raw = raw
	if len(raw) != fr.raw {
		return fmt.Errorf("%w: %d bytes, want %d", errDamaged, len(raw), fr.raw)
	}
	dec := newDecoder(raw, rows)
	for _, id := range ids[:last+1] {
		if !want(id) {
			dec.skip()
			continue
		}
		c, err := dec.column()
		if err != nil {
			return err
		}
		c.ID = id
		f(c)
	}
	return nil
}
