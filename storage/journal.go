package storage

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"

	"stallmark/storage/model"
)

// A journal holds the beats and notes of one segment until they are in the
// file. It is written without syncing: the page cache survives the process.
//
//	journal = magic, records
//	record  = length, CRC-32C, kind, payload
//
// A torn or damaged record ends the journal: what comes after it cannot be
// understood, since every beat builds on the one before.
const journalMagic = "stallmark journal 1\n"

// The kinds of records.
const (
	recordBeat  byte = iota + 1
	recordBeatZ      // compressed: the first beat of a journal names all series
	recordNote
)

const (
	recordHead  = 4 + 4 + 1
	maxRecord   = 16 << 20
	compressMin = 4 << 10 // shorter records are not worth compressing
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// journal is a journal that is being written.
type journal struct {
	path string
	f    *os.File
	size int64
	enc  beatEncoder
	zstd *zstd.Encoder
	buf  []byte
	z    []byte
}

// createJournal makes a new journal; the file must not exist.
func createJournal(path string, z *zstd.Encoder) (*journal, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	n, err := f.WriteString(journalMagic)
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(path))
	}
	return &journal{path: path, f: f, size: int64(n), zstd: z}, nil
}

// beat appends a beat.
func (j *journal) beat(at int64, fresh bool, vals []beatValue) error {
	j.buf = j.enc.encode(j.buf[:0], at, fresh, vals)
	if len(j.buf) < compressMin {
		return j.record(recordBeat, j.buf)
	}
	j.z = j.zstd.EncodeAll(j.buf, j.z[:0])
	return j.record(recordBeatZ, j.z)
}

// note appends an encoded note.
func (j *journal) note(b []byte) error { return j.record(recordNote, b) }

// record appends a record in one write. After an error the journal is cut back
// to what was whole and must not be written to again.
func (j *journal) record(kind byte, payload []byte) error {
	rec := make([]byte, 0, recordHead+len(payload))
	rec = binary.LittleEndian.AppendUint32(rec, uint32(len(payload)))
	rec = binary.LittleEndian.AppendUint32(rec, recordSum(kind, payload))
	rec = append(append(rec, kind), payload...)
	n, err := j.f.Write(rec)
	if err != nil {
		if n > 0 {
			err = errors.Join(err, j.f.Truncate(j.size))
		}
		return err
	}
	j.size += int64(n)
	return nil
}

func recordSum(kind byte, payload []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte{kind}, castagnoli), castagnoli, payload)
}

// sync makes the journal survive the machine as well.
func (j *journal) sync() error { return j.f.Sync() }

func (j *journal) close() error { return j.f.Close() }

// journalReader receives what a journal holds.
type journalReader interface {
	beat(b model.Batch, fresh bool)
	note(b []byte)
}

// errTorn is for a journal that does not end where a record does.
var errTorn = errors.New("torn journal")

// readJournal reads a journal up to its end or to the first record that is not
// whole; then the error is errTorn, and all before it has been delivered.
func readJournal(path string, to journalReader) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return decodeJournal(bufio.NewReaderSize(f, 64<<10), to)
}

// decodeJournal reads a journal from r.
func decodeJournal(r io.Reader, to journalReader) error {
	magic := make([]byte, len(journalMagic))
	if _, err := io.ReadFull(r, magic); err != nil || !bytes.Equal(magic, []byte(journalMagic)) {
		return fmt.Errorf("%w: no journal", errTorn)
	}
	var d journalDecoder
	defer d.close()
	for {
		kind, payload, err := readRecord(r)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = d.record(kind, payload, to)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errTorn, err)
		}
	}
}

// journalDecoder decodes the records of one journal.
type journalDecoder struct {
	beats beatDecoder
	zstd  *zstd.Decoder // made when it is needed
}

// record delivers one record.
func (d *journalDecoder) record(kind byte, payload []byte, to journalReader) error {
	if kind == recordNote {
		to.note(payload)
		return nil
	}
	if kind == recordBeatZ {
		var err error
		if payload, err = d.unpack(payload); err != nil {
			return err
		}
	}
	b, fresh, err := d.beats.decode(payload)
	if err != nil {
		return err
	}
	to.beat(b, fresh)
	return nil
}

func (d *journalDecoder) unpack(b []byte) (_ []byte, err error) {
	if d.zstd == nil {
		d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxRecord))
		if err != nil {
			return nil, err
		}
	}
	return d.zstd.DecodeAll(b, nil)
}

func (d *journalDecoder) close() {
	if d.zstd != nil {
		d.zstd.Close()
	}
}

// readRecord reads one record; io.EOF at the end.
func readRecord(r io.Reader) (kind byte, payload []byte, err error) {
	var head [recordHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	kind = head[8]
	if n > maxRecord || kind < recordBeat || kind > recordNote {
		return 0, nil, errMessage
	}
	// Read through a buffer that grows with what is there: the length may be a lie.
	var b bytes.Buffer
	if _, err := io.CopyN(&b, r, int64(n)); err != nil {
		return 0, nil, io.ErrUnexpectedEOF
	}
	if recordSum(kind, b.Bytes()) != binary.LittleEndian.Uint32(head[4:]) {
		return 0, nil, errors.New("checksum")
	}
	return kind, b.Bytes(), nil
}
