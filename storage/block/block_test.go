package block

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"stallmark/storage/internal/capture"
	"stallmark/storage/model"
)

// columnsOf takes up to 60 rows of a capture as columns.
func columnsOf(t testing.TB, name string) (times []int64, columns []Column) {
	t.Helper()
	c, err := capture.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	const rows = 60
	for i := range c.Series {
		col := Column{ID: uint32(i)}
		for k := range rows {
			if c.Has[i][k] {
				col.Rows = append(col.Rows, uint16(k))
				col.Vals = append(col.Vals, c.Values[i][k])
			}
		}
		columns = append(columns, col)
	}
	return c.Times[:rows], columns
}

// checkRoundTrip encodes, decodes and compares bit by bit.
func checkRoundTrip(t *testing.T, times []int64, columns []Column) {
	t.Helper()
	dec := NewDecoder()
	defer dec.Close()
	checkWith(t, NewEncoder(), dec, times, columns)
}

func checkWith(t *testing.T, enc *Encoder, dec *Decoder, times []int64, columns []Column) {
	t.Helper()
	b, err := Open(enc.Encode(nil, times, columns))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(b.Times, times) {
		t.Fatalf("times %v, want %v", b.Times, times)
	}
	i := 0
	err = dec.Columns(b, func(uint32) bool { return true }, func(got Column) {
		if i >= len(columns) {
			t.Fatalf("more than %d columns", len(columns))
		}
		checkColumn(t, got, columns[i], len(times))
		i++
	})
	if err != nil || i != len(columns) {
		t.Fatalf("%d of %d columns, error %v", i, len(columns), err)
	}
}

func checkColumn(t *testing.T, got, want Column, rows int) {
	t.Helper()
	if got.ID != want.ID || len(got.Vals) != len(want.Vals) {
		t.Fatalf("id %d with %d values, want %d with %d", got.ID, len(got.Vals), want.ID, len(want.Vals))
	}
	for i := range want.Vals {
		if math.Float64bits(got.Vals[i]) != math.Float64bits(want.Vals[i]) {
			t.Fatalf("id %d value %d: %x, want %x", want.ID, i, math.Float64bits(got.Vals[i]), math.Float64bits(want.Vals[i]))
		}
	}
	if !slices.Equal(allRows(got, rows), allRows(want, rows)) {
		t.Fatalf("id %d rows %v, want %v", want.ID, got.Rows, want.Rows)
	}
}

// allRows spells out nil rows.
func allRows(c Column, rows int) []uint16 {
	if c.Rows != nil || len(c.Vals) == 0 {
		return c.Rows
	}
	all := make([]uint16, rows)
	for i := range all {
		all[i] = uint16(i)
	}
	return all
}

func TestCapturesRoundTrip(t *testing.T) {
	for _, name := range []string{capture.DirtyThrottle, capture.DirectReclaim, capture.Idle} {
		times, columns := columnsOf(t, name)
		checkRoundTrip(t, times, columns)
	}
}

// oddValues are those that codecs get wrong.
var oddValues = []float64{
	0, math.Copysign(0, -1), 1, -1, 0.1, 0.01, 12345.67, 1e-9, 1e9 + 0.5,
	math.Inf(1), math.Inf(-1), math.NaN(), model.Stale(), math.Float64frombits(0xfff8dead0000beef),
	math.MaxFloat64, math.SmallestNonzeroFloat64, 1 << 53, 1<<53 + 2, -(1 << 53), 1<<63 + 2048, 1 << 64,
}

// randomColumn makes a column of one of the kinds that there are in practice.
func randomColumn(r *rand.Rand, id uint32, rows int) Column {
	c := Column{ID: id}
	kind, density := r.IntN(8), 1.0
	if r.IntN(3) == 0 {
		density = r.Float64()
	}
	value := math.Floor(r.Float64() * 1e12)
	scale := Scale(r.IntN(Scales))
	for row := range rows {
		if r.Float64() > density {
			continue
		}
		switch kind {
		case 0: // constant
		case 1: // counter
			value += float64(r.IntN(5000))
		case 2: // gauge in pages
			value += 4096 * float64(r.IntN(100)-50)
		case 3:
			value = float64(int64(r.Uint64()))
		case 4:
			value = math.Float64frombits(r.Uint64())
		case 5:
			value = oddValues[r.IntN(len(oddValues))]
		case 6:
			value = r.NormFloat64()
		case 7: // a sum of decimals, with its rounding errors
			value = math.Mod(value, 1e6) + 0.01*float64(r.IntN(300))
		}
		v := value
		if kind == 1 {
			v = value / scale
		}
		if r.IntN(40) == 0 {
			v = oddValues[r.IntN(len(oddValues))]
		}
		c.Rows, c.Vals = append(c.Rows, uint16(row)), append(c.Vals, v)
	}
	return c
}

func TestRandomRoundTrip(t *testing.T) {
	enc, dec := NewEncoder(), NewDecoder()
	defer dec.Close()
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 1))
		rows := []int{1, 2, 3, 59, 60, 61, 600}[r.IntN(7)]
		times := make([]int64, rows)
		at := int64(r.Uint64() >> 20)
		for i := range times {
			at += 1 + int64(r.IntN(2000))
			times[i] = at
		}
		var columns []Column
		id := uint32(r.IntN(1000))
		for range r.IntN(1500) / rows {
			columns = append(columns, randomColumn(r, id, rows))
			id += 1 + uint32(r.IntN(3)*r.IntN(3))
		}
		checkWith(t, enc, dec, times, columns)
	}
}

// A counter that a source adds up from decimals costs little more than one that
// it does not.
func TestSumsOfDecimalsStaySmall(t *testing.T) {
	times, exact, sums := make([]int64, 60), Column{}, Column{ID: 1}
	r := rand.New(rand.NewPCG(1, 1))
	n, sum := 0, 0.0
	for i := range times {
		times[i] = int64(i) * 1000
		d := r.IntN(100)
		n += d
		sum += float64(d) / 100
		exact.Vals, sums.Vals = append(exact.Vals, float64(n)/100), append(sums.Vals, sum)
	}
	if slices.Equal(exact.Vals, sums.Vals) {
		t.Fatal("the sums have no rounding errors: the test shows nothing")
	}
	size := func(c Column) int { return len(NewEncoder().Encode(nil, times, []Column{c})) }
	if a, b := size(exact), size(sums); b > a+60 {
		t.Errorf("%d bytes with rounding errors, %d without", b, a)
	}
	checkRoundTrip(t, times, []Column{exact, sums})
}

func BenchmarkEncode(b *testing.B) {
	for _, name := range []string{capture.DirtyThrottle, capture.DirectReclaim, capture.Idle} {
		b.Run(name, func(b *testing.B) {
			times, columns := columnsOf(b, name)
			enc := NewEncoder()
			var out []byte
			for b.Loop() {
				out = enc.Encode(out[:0], times, columns)
			}
			b.ReportMetric(float64(len(out))/float64(len(times)*len(columns)), "bytes/sample")
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	times, columns := columnsOf(b, capture.DirectReclaim)
	packed := NewEncoder().Encode(nil, times, columns)
	for _, share := range []uint32{1, 10, 100} {
		b.Run(map[uint32]string{1: "all", 10: "tenth", 100: "hundredth"}[share], func(b *testing.B) {
			dec := NewDecoder()
			defer dec.Close()
			for b.Loop() {
				blk, err := Open(packed)
				if err != nil {
					b.Fatal(err)
				}
				err = dec.Columns(blk, func(id uint32) bool { return id%share == 0 }, func(Column) {})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
