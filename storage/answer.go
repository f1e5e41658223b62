package storage

import (
	"encoding/binary"
	"math"

	"stallmark/storage/block"
)

// Samples travel from the child in chunks, one a block, in the order of time,
// several in a message:
//
//	chunk  = mode, new series, times, columns
//	column = number of the series, rows or none, values
//
// Series are numbered within the answer in the order of their first column.

// mode is how the points of a part are to be read.
type mode byte

const (
	modePoints mode = iota // as they are
	modeHold               // one point stands for its minute
	modeSlope              // between the points the value grew evenly
)

// chunkWriter encodes the chunks of one answer.
type chunkWriter struct {
	numbers map[string]int
	fresh   []string
	body    []byte
	columns int
	samples int
	times   []int64
	mode    mode
}

func newChunkWriter() *chunkWriter { return &chunkWriter{numbers: map[string]int{}} }

// begin starts a chunk.
func (w *chunkWriter) begin(times []int64, m mode) {
	w.fresh, w.body, w.columns, w.times, w.mode = w.fresh[:0], w.body[:0], 0, times, m
}

// column adds one series' values.
func (w *chunkWriter) column(key string, rows []uint16, vals []float64) {
	n, ok := w.numbers[key]
	if !ok {
		n = len(w.numbers)
		w.numbers[key] = n
		w.fresh = append(w.fresh, key)
	}
	w.body = binary.AppendUvarint(w.body, uint64(n))
	w.body = binary.AppendUvarint(w.body, uint64(len(rows)))
	for _, r := range rows {
		w.body = binary.LittleEndian.AppendUint16(w.body, r)
	}
	w.body = binary.AppendUvarint(w.body, uint64(len(vals)))
	for _, v := range vals {
		w.body = binary.LittleEndian.AppendUint64(w.body, math.Float64bits(v))
	}
	w.columns++
	w.samples += len(vals)
}

// end is the finished chunk; nil if it has no columns.
func (w *chunkWriter) end() []byte {
	if w.columns == 0 {
		return nil
	}
	out := []byte{byte(w.mode)}
	out = binary.AppendUvarint(out, uint64(len(w.fresh)))
	for _, k := range w.fresh {
		out = appendText(out, k)
	}
	out = binary.AppendUvarint(out, uint64(len(w.times)))
	for _, t := range w.times {
		out = binary.LittleEndian.AppendUint64(out, uint64(t))
	}
	out = binary.AppendUvarint(out, uint64(w.columns))
	return append(out, w.body...)
}

// chunkReader puts the chunks of one answer together.
type chunkReader struct {
	span   bounds
	series []series
	newest int64 // time of the newest row
}

// read takes chunks, one after the other.
func (r *chunkReader) read(b []byte) error {
	c := cursor{b: b}
	for len(c.b) > 0 {
		if err := r.chunk(&c); err != nil {
			return err
		}
	}
	return nil
}

// chunk takes one chunk.
func (r *chunkReader) chunk(c *cursor) error {
	m := mode(c.byte())
	for n := c.count(len(c.b)); n > 0 && !c.bad; n-- {
		key := string(c.text())
		lbls, err := keyLabels(key)
		if err != nil {
			return err
		}
		r.series = append(r.series, series{key: key, labels: lbls, span: r.span})
	}
	times := make([]int64, c.count(len(c.b)/8))
	for i := range times {
		times[i] = int64(c.uint64())
		r.newest = max(r.newest, times[i])
	}
	for n := c.count(len(c.b)); n > 0 && !c.bad; n-- {
		r.column(c, times, m)
	}
	if c.bad {
		return errMessage
	}
	return nil
}

// column takes one column.
func (r *chunkReader) column(c *cursor, times []int64, m mode) {
	n := c.count(len(r.series) - 1)
	p := part{times: times, mode: m}
	if rows := c.count(len(c.b) / 2); rows > 0 {
		p.rows = make([]uint16, rows)
		for i := range p.rows {
			if p.rows[i] = c.uint16(); int(p.rows[i]) >= len(times) {
				c.fail()
			}
		}
	}
	p.vals = make([]float64, c.count(len(c.b)/8))
	for i := range p.vals {
		p.vals[i] = math.Float64frombits(c.uint64())
	}
	if len(p.vals) > len(times) || (p.rows != nil && len(p.rows) != len(p.vals)) {
		c.fail()
	}
	if !c.bad {
		r.series[n].parts = append(r.series[n].parts, p)
	}
}

// columnWithin cuts a column to the times in [mint, maxt].
func columnWithin(c block.Column, times []int64, mint, maxt int64) block.Column {
	p := part{times: times, rows: c.Rows, vals: c.Vals}
	from, to := p.search(mint), p.search(maxt+1)
	if c.Rows == nil && (from > 0 || to < len(c.Vals)) {
		c.Rows = make([]uint16, len(c.Vals))
		for i := range c.Rows {
			c.Rows[i] = uint16(i)
		}
	}
	if c.Rows != nil {
		c.Rows = c.Rows[from:to]
	}
	c.Vals = c.Vals[from:to]
	return c
}
