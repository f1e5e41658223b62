package snapshot

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Errors that a caller tells apart.
var (
	ErrLimit = errors.New("over the limit for snapshots")
	ErrNewer = errors.New("snapshot of a newer version")
	// ErrNot is for what is no snapshot at all.
	ErrNot = errors.New("not a snapshot")
)

// Limits bound what a snapshot may hold: one that is imported may be hostile.
type Limits struct {
	Compressed int64 // bytes of the archive
	Total      int64 // bytes, decompressed
	Series     int
	Events     int
	Points     int // values of all series
}

// DefaultLimits hold an hour of a large host.
func DefaultLimits() Limits {
	return Limits{Compressed: 32 << 20, Total: 256 << 20, Series: 50_000, Events: 100_000, Points: 24_000_000}
}

// entry is a file of the archive.
type entry struct {
	name string
	data []byte
}

// entries are the files of a snapshot, in the order in which they are hashed.
func (s *Snapshot) entries() ([]entry, error) {
	var out []entry
	for _, p := range s.parts() {
		data, err := marshal(p.into)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		out = append(out, entry{p.name, data})
	}
	var samples index
	for _, one := range s.Samples {
		samples.Series = append(samples.Series, indexed{Labels: one.Labels})
	}
	lines, flat := flatten(s.Lines)
	for _, t := range []struct {
		name string
		ix   index
		all  []Series
	}{{"samples", samples, s.Samples}, {"lines", lines, flat}} {
		data, err := marshal(t.ix)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		out = append(out, entry{t.name + ".json", data}, entry{t.name + ".blocks", encodeTable(t.all)})
	}
	return out, nil
}

// hash is the id of a snapshot with these files.
func hash(files []entry) string {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%s %d\n", f.name, len(f.data))
		h.Write(f.data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Encode gives the archive and its id.
func (s *Snapshot) Encode() (id string, archive []byte, err error) {
	files, err := s.entries()
	if err != nil {
		return "", nil, err
	}
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return "", nil, err
	}
	t := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Typeflag: tar.TypeReg, Mode: 0o400, Size: int64(len(f.data)), ModTime: time.Unix(s.Meta.Created.Unix(), 0)}
		if err := errors.Join(t.WriteHeader(h), write(t, f.data)); err != nil {
			return "", nil, err
		}
	}
	if err := errors.Join(t.Close(), z.Close()); err != nil {
		return "", nil, err
	}
	return hash(files), b.Bytes(), nil
}

func write(w io.Writer, data []byte) error {
	_, err := w.Write(data)
	return err
}

// Decode reads an archive and gives its id, which is computed, not believed.
func Decode(r io.Reader, limits Limits) (id string, s *Snapshot, err error) {
	files, err := unpack(r, limits)
	if err != nil {
		return "", nil, err
	}
	s = &Snapshot{}
	byName := map[string][]byte{}
	for _, f := range files {
		byName[f.name] = f.data
	}
	meta, ok := byName["meta.json"]
	if !ok {
		return "", nil, fmt.Errorf("no meta.json: %w", ErrNot)
	}
	if err := s.checkMeta(meta); err != nil {
		return "", nil, err
	}
	for _, p := range s.parts() {
		if err := json.Unmarshal(byName[p.name], p.into); err != nil {
			return "", nil, fmt.Errorf("%s: %w", p.name, err)
		}
	}
	if len(s.Events) > limits.Events {
		return "", nil, fmt.Errorf("%d events: %w", len(s.Events), ErrLimit)
	}
	if err := s.tables(byName, limits); err != nil {
		return "", nil, err
	}
	return hash(files), s, nil
}

// checkMeta refuses what cannot be shown.
func (s *Snapshot) checkMeta(data []byte) error {
	if err := json.Unmarshal(data, &s.Meta); err != nil {
		return fmt.Errorf("meta.json: %w", err)
	}
	m := s.Meta
	switch {
	case m.Format > Format:
		return fmt.Errorf("format %d, this program reads up to %d: %w", m.Format, Format, ErrNewer)
	case m.Format < 1:
		return fmt.Errorf("meta.json: no format: %w", ErrNot)
	case m.Interval <= 0 || m.Interval > time.Hour || !m.To.After(m.From) || m.To.Sub(m.From) > 31*24*time.Hour:
		return fmt.Errorf("meta.json: %v to %v every %v: %w", m.From, m.To, m.Interval, errDamaged)
	}
	return nil
}

// tables reads samples and lines.
func (s *Snapshot) tables(byName map[string][]byte, limits Limits) error {
	_, samples, err := readIndex(byName["samples.json"], limits.Series)
	if err == nil {
		err = decodeTable(byName["samples.blocks"], samples, limits.Points)
	}
	if err != nil {
		return fmt.Errorf("samples: %w", err)
	}
	ix, lines, err := readIndex(byName["lines.json"], limits.Series)
	if err == nil {
		err = decodeTable(byName["lines.blocks"], lines, limits.Points)
	}
	if err != nil {
		return fmt.Errorf("lines: %w", err)
	}
	s.Samples, s.Lines = samples, unflatten(ix, lines)
	return nil
}

// known are the files of an archive. Others are an error: they would not be
// part of what this program hashes.
func known(name string) bool {
	switch name {
	case "meta.json", "report.json", "events.json", "facts.json", "signatures.json",
		"samples.json", "samples.blocks", "lines.json", "lines.blocks":
		return true
	}
	return false
}

// unpack reads the files of an archive.
func unpack(r io.Reader, limits Limits) ([]entry, error) {
	z, err := zstd.NewReader(
		io.LimitReader(r, limits.Compressed+1),
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(16<<20),
	)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNot, err)
	}
	defer z.Close()
	t := tar.NewReader(z)
	left := limits.Total
	var out []entry
	seen := map[string]bool{}
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNot, err)
		}
		if h.Typeflag != tar.TypeReg || !known(h.Name) || seen[h.Name] {
			return nil, fmt.Errorf("entry %.100q: %w", h.Name, ErrNot)
		}
		seen[h.Name] = true
		data, err := io.ReadAll(io.LimitReader(t, left+1))
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %w", h.Name, errDamaged, err)
		}
		if left -= int64(len(data)); left < 0 {
			return nil, fmt.Errorf("more than %d MiB decompressed: %w", limits.Total>>20, ErrLimit)
		}
		out = append(out, entry{h.Name, data})
	}
}
