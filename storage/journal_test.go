package storage

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/klauspost/compress/zstd"

	"stallmark/storage/internal/capture"
	"stallmark/storage/model"
)

// readBeat is a beat as it was read.
type readBeat struct {
	at    int64
	fresh bool
	vals  map[string]uint64 // bits by series key
}

// collected takes what a journal holds.
type collected struct {
	beats []readBeat
	notes []string
}

func (c *collected) beat(b model.Batch, fresh bool) {
	c.beats = append(c.beats, readBeat{b.At, fresh, valuesOf(b)})
}

func (c *collected) note(b []byte) { c.notes = append(c.notes, string(b)) }

func valuesOf(b model.Batch) map[string]uint64 {
	out := map[string]uint64{}
	for _, s := range b.Samples {
		out[string(appendKey(nil, s.Series))] = math.Float64bits(s.Value)
	}
	return out
}

func newZstd(t testing.TB) *zstd.Encoder {
	t.Helper()
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// randomBatches makes beats in which series come, change, stay and go.
func randomBatches(r *rand.Rand, n int) []model.Batch {
	var all []*model.Series
	for i := range 40 {
		all = append(all, model.NewSeries("s", "i", string(rune('a'+i)), "odd", "\xff\xfe\x00"))
	}
	vals := make([]float64, len(all))
	var out []model.Batch
	at := base
	for range n {
		at += 1 + int64(r.IntN(3000))
		b := model.Batch{At: at}
		for i, s := range all {
			switch r.IntN(12) {
			case 0:
				continue
			case 1:
				vals[i] = math.Float64frombits(r.Uint64())
			case 2:
				vals[i] = []float64{math.Copysign(0, -1), 0, model.Stale(), math.Inf(1), 0.01, 1 << 60}[r.IntN(6)]
			case 3, 4, 5:
				vals[i] = math.Trunc(vals[i]) + float64(r.IntN(1000))
			case 6:
				vals[i] = float64(r.IntN(1e6)) / 100
			}
			b.Samples = append(b.Samples, model.Sample{Series: s, Value: vals[i]})
		}
		out = append(out, b)
	}
	return out
}

// writeJournal writes beats, with a note after every tenth, and returns what
// reading must give.
func writeJournal(t testing.TB, path string, batches []model.Batch) (want collected) {
	t.Helper()
	j, err := createJournal(path, newZstd(t))
	if err != nil {
		t.Fatal(err)
	}
	h := newHead(0)
	var row beatRow
	for i, b := range batches {
		if h.append(b) == beatRefused {
			t.Fatalf("beat %d was not taken", i)
		}
		if !h.row(uint64(i), &row) {
			t.Fatalf("no row %d", i)
		}
		if err := j.beat(row.at, row.fresh, row.vals); err != nil {
			t.Fatal(err)
		}
		want.beat(b, i == 0)
		if i%10 == 9 {
			if err := j.note([]byte("note")); err != nil {
				t.Fatal(err)
			}
			want.notes = append(want.notes, "note")
		}
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	return want
}

func TestJournalRoundTrip(t *testing.T) {
	for seed := range uint64(10) {
		path := filepath.Join(t.TempDir(), "j")
		want := writeJournal(t, path, randomBatches(rand.New(rand.NewPCG(seed, 2)), 120))
		var got collected
		if err := readJournal(path, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: what was read is not what was written", seed)
		}
	}
}

// TestTornJournal cuts and damages a journal everywhere: what is read is a
// beginning of what was written, and all before the damage.
func TestTornJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	want := writeJournal(t, path, randomBatches(rand.New(rand.NewPCG(7, 7)), 11))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before := 0
	for cut := range len(whole) {
		var got collected
		err := decodeJournal(bytes.NewReader(whole[:cut]), &got)
		if err != nil && !errors.Is(err, errTorn) {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		n := len(got.beats)
		if n < before || n > before+1 || n > 0 && !reflect.DeepEqual(got.beats, want.beats[:n]) {
			t.Fatalf("cut at %d: %d beats, %d before", cut, n, before)
		}
		before = n
	}
	r := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		bad := bytes.Clone(whole)
		bad[r.IntN(len(bad))] ^= byte(1 + r.IntN(255))
		var got collected
		if err := decodeJournal(bytes.NewReader(bad), &got); !errors.Is(err, errTorn) {
			t.Fatalf("damage was not seen: %v", err)
		}
		if n := len(got.beats); n > 0 && !reflect.DeepEqual(got.beats, want.beats[:n]) {
			t.Fatal("what was read before the damage is not what was written")
		}
	}
}

func FuzzJournal(f *testing.F) {
	path := filepath.Join(f.TempDir(), "j")
	writeJournal(f, path, randomBatches(rand.New(rand.NewPCG(1, 1)), 3))
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte(journalMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		var got collected
		if err := decodeJournal(bytes.NewReader(data), &got); err != nil && !errors.Is(err, errTorn) {
			t.Errorf("error %v is of no kind", err)
		}
	})
}

func FuzzBeat(f *testing.F) {
	for _, b := range randomBatches(rand.New(rand.NewPCG(1, 1)), 3) {
		h := newHead(0)
		h.append(b)
		var row beatRow
		h.row(0, &row)
		var e beatEncoder
		f.Add(e.encode(nil, row.at, true, row.vals))
	}
	f.Add([]byte{flagReset, 0, 1, 2, 1, 'x', opBits, 1, 2, 3, 4, 5, 6, 7, 8})
	f.Fuzz(func(t *testing.T, data []byte) {
		var d beatDecoder
		for range 2 {
			b, _, err := d.decode(data)
			if err != nil {
				return
			}
			if len(b.Samples) > len(d.series) {
				t.Errorf("%d samples of %d series", len(b.Samples), len(d.series))
			}
		}
	})
}

// TestJournalIsSmall holds the size of a beat, which says what the recorder
// writes to a disk that is in trouble.
func TestJournalIsSmall(t *testing.T) {
	l := loop(t, capture.DirtyThrottle)
	path := filepath.Join(t.TempDir(), "j")
	j, err := createJournal(path, newZstd(t))
	if err != nil {
		t.Fatal(err)
	}
	h := newHead(0)
	var row beatRow
	series := 0
	for i := range 60 {
		b := l.Next()
		series = len(b.Samples)
		h.append(b)
		h.row(uint64(i), &row)
		if err := j.beat(row.at, row.fresh, row.vals); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	if a := j.size / 60; a > 1200 {
		t.Errorf("%d bytes a beat for %d series", a, series)
	}
}
