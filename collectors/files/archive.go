package files

import (
	"archive/tar"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"
)

// backlog is how many ticks may wait for the disk.
const backlog = 64

// archive writes ticks from a goroutine of its own, so that a slow disk does
// not delay the beat. The first error stops the writing; later ticks are taken
// and dropped, and close returns the error.
type archive struct {
	jobs chan job
	done chan error
}

// job is one tick to write.
type job struct {
	number int
	at     time.Time
	rec    *recorded
	meta   *Meta // before the first tick
}

// NewWriter records onto out.
func NewWriter(out io.Writer, cfg WriterConfig) (*Writer, error) {
	z, err := zstd.NewWriter(out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(4<<20))
	if err != nil {
		return nil, err
	}
	a := &archive{jobs: make(chan job, backlog), done: make(chan error, 1)}
	go a.run(z)
	return &Writer{cfg: cfg, archive: a, cur: newRecorded()}, nil
}

// offer hands over a tick; unless it may wait, it gives up when too many are
// waiting.
func (a *archive) offer(j job, wait bool) bool {
	if wait {
		a.jobs <- j
		return true
	}
	select {
	case a.jobs <- j:
		return true
	default:
		return false
	}
}

func (a *archive) close() error {
	close(a.jobs)
	return <-a.done
}

func (a *archive) run(z *zstd.Encoder) {
	t := tar.NewWriter(z)
	var failed error
	for j := range a.jobs {
		if failed == nil {
			failed = writeTick(t, z, j)
		}
	}
	if failed == nil {
		failed = t.Close()
	}
	if err := z.Close(); failed == nil {
		failed = err
	}
	a.done <- failed
}

// writeTick writes one tick and flushes, so that all of it is in the file.
func writeTick(t *tar.Writer, z *zstd.Encoder, j job) error {
	if j.meta != nil {
		if err := putJSON(t, j.at, nameMeta, j.meta); err != nil {
			return err
		}
	}
	prefix := fmt.Sprintf("%06d/", j.number)
	for _, name := range slices.Sorted(maps.Keys(j.rec.files)) {
		if err := put(t, j.at, prefix+name, j.rec.files[name]); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(j.rec.links)) {
		h := header(j.at, prefix+name)
		h.Typeflag, h.Linkname = tar.TypeSymlink, j.rec.links[name]
		if err := t.WriteHeader(h); err != nil {
			return fmt.Errorf("record %s: %w", name, err)
		}
	}
	if err := putTables(t, j, prefix); err != nil {
		return err
	}
	if err := put(t, j.at, prefix+nameAt, []byte(j.at.Format(time.RFC3339Nano)+"\n")); err != nil {
		return err
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return z.Flush()
}

// putTables writes the JSON files of a tick that have something in them.
func putTables(t *tar.Writer, j job, prefix string) error {
	facts := j.rec.facts
	if j.meta != nil { // which has them already
		facts = nil
	}
	tables := []struct {
		name string
		rows any
		n    int
	}{
		{nameDirs, j.rec.dirs, len(j.rec.dirs)},
		{nameErrors, j.rec.errors, len(j.rec.errors)},
		{nameFacts, facts, len(facts)},
	}
	for _, table := range tables {
		if table.n == 0 {
			continue
		}
		if err := putJSON(t, j.at, prefix+table.name, table.rows); err != nil {
			return err
		}
	}
	return nil
}

func putJSON(t *tar.Writer, at time.Time, name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("record %s: %w", name, err)
	}
	return put(t, at, name, append(data, '\n'))
}

func put(t *tar.Writer, at time.Time, name string, data []byte) error {
	h := header(at, name)
	h.Typeflag, h.Size = tar.TypeReg, int64(len(data))
	if err := t.WriteHeader(h); err != nil {
		return fmt.Errorf("record %s: %w", name, err)
	}
	if _, err := t.Write(data); err != nil {
		return fmt.Errorf("record %s: %w", name, err)
	}
	return nil
}

func header(at time.Time, name string) *tar.Header {
	return &tar.Header{Name: name, Mode: 0o400, ModTime: at.Truncate(time.Second)}
}
