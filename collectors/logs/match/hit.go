package match

import (
	"time"

	"stallmark/storage/model"
)

// Hit is a recognised line. One Hit serves any number of calls; what it holds
// is good until the next call and refers to the text that was searched.
type Hit struct {
	Pattern    *model.LogPattern
	Line       []byte
	Start, End int // of the line in the text given to Next, without its line feed
	Fields     []Field

	literals []int32
}

// Field is a named group that took part in the match.
type Field struct {
	Name  string
	Unit  model.LogUnit
	Text  []byte
	Value float64 // seconds, bytes, count or ratio; epoch-ms stays in milliseconds
	OK    bool    // there is a value
}

func (h *Hit) reset(line []byte) {
	h.Pattern, h.Line, h.Start, h.End = nil, line, 0, len(line)
	h.Fields = h.Fields[:0]
}

func (h *Hit) take(p *pattern, bounds []int) {
	h.Pattern = p.LogPattern
	for _, g := range p.fields {
		if bounds[g.index] < 0 {
			continue
		}
		f := Field{Name: g.name, Unit: g.unit, Text: h.Line[bounds[g.index]:bounds[g.index+1]]}
		f.Value, f.OK = value(f.Text, g.unit)
		h.Fields = append(h.Fields, f)
	}
	if p.regexp.SubexpIndex(model.FieldThread) >= 0 {
		return
	}
	if thread := threadBefore(h.Line, bounds[0]); thread != nil {
		h.Fields = append(h.Fields, Field{Name: model.FieldThread, Unit: model.UnitText, Text: thread})
	}
}

// Field gives a field by its name.
func (h *Hit) Field(name string) (Field, bool) {
	for _, f := range h.Fields {
		if f.Name == name {
			return f, true
		}
	}
	return Field{}, false
}

// maxDuration bounds what a line can claim: beyond it a number is no wait.
const maxDuration = 366 * 24 * time.Hour

// Duration is the time that ended when the line was written.
func (h *Hit) Duration() (time.Duration, bool) {
	f, ok := h.Field(model.FieldDuration)
	if !ok || !f.OK || f.Value < 0 || f.Value > maxDuration.Seconds() {
		return 0, false
	}
	return time.Duration(f.Value * float64(time.Second)), true
}

// Waited is what remains of that time without the copying itself, where the line
// says both.
func (h *Hit) Waited() (time.Duration, bool) {
	took, ok := h.Duration()
	f, told := h.Field(model.FieldCopy)
	if !ok || !told || !f.OK || f.Value < 0 {
		return 0, false
	}
	return max(0, took-time.Duration(min(f.Value, maxDuration.Seconds())*float64(time.Second))), true
}

// Began is the instant at which that time began, where the line says so.
func (h *Hit) Began() (time.Time, bool) {
	f, ok := h.Field(model.FieldStart)
	if !ok || !f.OK || f.Unit != model.UnitEpochMillis || f.Value <= 0 || f.Value > 1e14 {
		return time.Time{}, false
	}
	return time.UnixMilli(int64(f.Value)).UTC(), true
}

// Size is the size that the line names, in bytes.
func (h *Hit) Size() (float64, bool) {
	f, ok := h.Field(model.FieldSize)
	return f.Value, ok && f.OK
}
