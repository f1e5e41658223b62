package snapshot

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"stallmark/storage/block"
	"stallmark/storage/model"
)

// maxRows is how many times one block holds at most.
const maxRows = 60_000

var errDamaged = errors.New("damaged")

// index is the JSON beside a table's blocks: the labels of each series, in the
// order of the columns, and for the lines of charts the expression.
type index struct {
	Series []indexed `json:"series"`
}

type indexed struct {
	Expr   string        `json:"expr,omitempty"`
	Labels []model.Label `json:"labels"`
}

// encodeTable writes series as blocks of columns, each behind its length.
func encodeTable(all []Series) []byte {
	times := union(all)
	enc := block.NewEncoder()
	var out []byte
	next := make([]int, len(all))
	for len(times) > 0 {
		n := min(len(times), maxRows)
		b := enc.Encode(nil, times[:n], columnsOf(all, next, times[:n]))
		out = append(binary.AppendUvarint(out, uint64(len(b))), b...)
		times = times[n:]
	}
	return out
}

// union is all times of all series.
func union(all []Series) []int64 {
	seen := map[int64]bool{}
	var last []int64
	for _, s := range all {
		if slices.Equal(s.T, last) { // nearly always: all of one beat
			continue
		}
		last = s.T
		for _, t := range s.T {
			seen[t] = true
		}
	}
	times := make([]int64, 0, len(seen))
	for t := range seen {
		times = append(times, t)
	}
	slices.Sort(times)
	return times
}

// columnsOf are the series' values at the given times; next is how far each has
// been read. Ids begin at 1.
func columnsOf(all []Series, next []int, times []int64) []block.Column {
	var out []block.Column
	for i, s := range all {
		room := min(len(s.T)-next[i], len(times))
		c := block.Column{ID: uint32(i + 1), Rows: make([]uint16, 0, room), Vals: make([]float64, 0, room)}
		row := 0
		for ; next[i] < len(s.T) && s.T[next[i]] <= times[len(times)-1]; next[i]++ {
			for times[row] < s.T[next[i]] {
				row++
			}
			c.Rows = append(c.Rows, uint16(row))
			c.Vals = append(c.Vals, s.V[next[i]])
		}
		if len(c.Vals) == len(times) {
			c.Rows = nil
		}
		if len(c.Vals) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// decodeTable fills the series with the values of the blocks: points at most, for
// a column of equal values takes some bytes however long it is.
func decodeTable(data []byte, into []Series, points int) error {
	dec := block.NewDecoder()
	defer dec.Close()
	for len(data) > 0 {
		size, n := binary.Uvarint(data)
		if n <= 0 || size > uint64(len(data)-n) {
			return fmt.Errorf("%w: a block of %d bytes in %d", errDamaged, size, len(data))
		}
		b, err := block.Open(data[n : n+int(size)])
		if err != nil {
			return err
		}
		data = data[n+int(size):]
		if !slices.IsSorted(b.Times) {
			return fmt.Errorf("%w: times step back", errDamaged)
		}
		left := points
		err = dec.Columns(b, func(id uint32) bool { return left > 0 && id >= 1 && int(id) <= len(into) }, func(c block.Column) {
			if left -= len(c.Vals); left >= 0 {
				into[c.ID-1].take(c, b.Times)
			}
		})
		if err != nil {
			return err
		}
		if points = left; points <= 0 {
			return fmt.Errorf("more values than a snapshot may hold: %w", ErrLimit)
		}
	}
	return nil
}

// take appends the values of a column.
func (s *Series) take(c block.Column, times []int64) {
	for i, v := range c.Vals {
		row := i
		if c.Rows != nil {
			row = int(c.Rows[i])
		}
		if row >= len(times) || len(s.T) > 0 && times[row] <= s.T[len(s.T)-1] {
			return
		}
		s.T, s.V = append(s.T, times[row]), append(s.V, v)
	}
}

// flatten lists the series of all lines with their expressions.
func flatten(lines []Line) (ix index, all []Series) {
	for _, l := range lines {
		for _, s := range l.Series {
			ix.Series = append(ix.Series, indexed{l.Expr, s.Labels})
			all = append(all, s)
		}
		if len(l.Series) == 0 { // it was asked for and gave nothing
			ix.Series = append(ix.Series, indexed{Expr: l.Expr})
			all = append(all, Series{})
		}
	}
	return ix, all
}

// unflatten puts series back under their expressions.
func unflatten(ix index, all []Series) []Line {
	var out []Line
	for i, s := range all {
		if n := len(out); n == 0 || out[n-1].Expr != ix.Series[i].Expr {
			out = append(out, Line{Expr: ix.Series[i].Expr})
		}
		if len(s.T) > 0 {
			last := &out[len(out)-1]
			last.Series = append(last.Series, s)
		}
	}
	return out
}

// readIndex reads the labels of a table.
func readIndex(data []byte, limit int) (index, []Series, error) {
	var ix index
	if err := json.Unmarshal(data, &ix); err != nil {
		return ix, nil, err
	}
	if len(ix.Series) > limit {
		return ix, nil, fmt.Errorf("%d series: %w", len(ix.Series), ErrLimit)
	}
	all := make([]Series, len(ix.Series))
	for i := range all {
		all[i].Labels = ix.Series[i].Labels
	}
	return ix, all, nil
}
