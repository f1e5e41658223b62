package pasted

import (
	"fmt"
	"time"

	"stallmark/storage/model"
)

// Part is one piece of a text that was recognised: a table, a snapshot, a log.
type Part struct {
	File     string             // name of the text it is from
	From, To int                // its first and last line, counted from 1
	Format   string             // "vmstat", "iostat", "sar -B", "meminfo" ...
	Says     []string           // what can be read from it, in words
	Signs    []Note             // what stands out, in words: it is no verdict
	Notes    []Note             // what could not, or only with an assumption
	Interval time.Duration      // between rows; 0 if unknown or if there is one reading only
	Rows     []Row              // in the order of the text
	Files    []File             // contents of files of /proc and /sys
	Events   []model.Event      // with a time of their own, or zero if the text gives none
	Grown    map[string]float64 // counters that grew since a copy without a time
	Facts    map[string]string
	Logged   bool // its lines are of a log, whose reader wants them too
	lines    []line
	weight   int       // of readings of one kind the heaviest tells most
	starts   []started // of the tool that printed it, where a collector began it anew
}

// Note is a remark about a line; Line is 0 if it is about the part.
type Note struct {
	Line int    `json:"line,omitempty"`
	Text string `json:"text"`
}

// Row is what one report of a tool says.
type Row struct {
	Line   int
	At     time.Time // the end of what it covers; zero if the text does not say
	Values []Value
}

// Kind is what a value is.
type Kind int

// The kinds of values.
const (
	Gauge Kind = iota // as it stood at the row's time
	Rate              // a second, the mean since the row before
	Total             // a counter as the kernel has it
)

// Value is one number of a row.
type Value struct {
	Series *model.Series
	Kind   Kind
	V      float64
}

// File is a file of /proc or /sys that was pasted whole.
type File struct {
	Line  int
	At    time.Time     // zero if the text does not say
	After time.Duration // since the copy before it, 0 if nothing tells
	Path  string        // "proc/vmstat"
	Data  []byte
}

// maxNotes bounds the remarks of a part: a broken table has one a line.
const maxNotes = 20

// note adds a remark.
func (p *Part) note(line int, format string, args ...any) {
	switch {
	case len(p.Notes) < maxNotes:
		p.Notes = append(p.Notes, Note{line, fmt.Sprintf(format, args...)})
	case len(p.Notes) == maxNotes:
		p.Notes = append(p.Notes, Note{line, "and more of this kind"})
	}
}

// sign adds a sentence about what stands out.
func (p *Part) sign(line int, format string, args ...any) {
	if len(p.Signs) < maxNotes {
		p.Signs = append(p.Signs, Note{line, fmt.Sprintf(format, args...)})
	}
}

// say adds a sentence about what is in the part.
func (p *Part) say(format string, args ...any) { p.Says = append(p.Says, fmt.Sprintf(format, args...)) }

// Text is the lines of a part that are a log's too; nil of any other.
func (p *Part) Text() []string {
	var list []string
	for _, l := range p.lines {
		list = append(list, l.text)
	}
	return list
}
