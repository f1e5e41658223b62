package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"stallmark/collectors/logs/match"
	"stallmark/collectors/logs/stamp"
	"stallmark/storage/model"
)

// matchRow is a recognised line.
type matchRow struct {
	File    string             `json:"file"`
	Line    int64              `json:"line"`
	Pattern string             `json:"pattern"`
	Product string             `json:"product"`
	Proof   model.LogProof     `json:"proof"`
	From    *string            `json:"from"` // RFC 3339 UTC; null where nothing ties the line to a date
	To      *string            `json:"to"`
	Early   float64            `json:"early_ms"` // how much before and after it all may have been
	Late    float64            `json:"late_ms"`
	Zone    string             `json:"zone,omitempty"`
	Note    string             `json:"note,omitempty"`
	Fields  map[string]string  `json:"fields"`
	Values  map[string]float64 `json:"values,omitempty"` // seconds, bytes, counts, ratios
	Text    string             `json:"text"`

	stamp   stamp.Stamp
	stamped bool
	took    time.Duration
	began   time.Time
}

const (
	maxPending = 20000 // rows that wait for a proof of the zone
	maxRowText = 2000  // bytes of a line that are printed
)

// matchFile is one log being matched.
type matchFile struct {
	m       *matcher
	name    string
	clock   *stamp.Clock
	pending []*matchRow
	settled bool // the zone is as sure as it gets, or too many rows waited
}

// file matches one log.
func (m *matcher) file(name string) error {
	r, changed, err := m.openLog(name)
	if err != nil {
		return err
	}
	defer r.Close()
	f := &matchFile{m: m, name: name, clock: stamp.NewClock(stamp.Options{Zone: m.told.zoneOf(name), Reference: changed, Boot: m.told.boot})}
	if near, ok := m.nearby[filepath.Dir(name)]; ok {
		f.clock.SawNearby(near.offset, near.file)
	}
	if last, ok := lastStamp(name); ok {
		f.clock.SawEnd(last, changed)
	}
	s := match.NewScanner(m.set)
	s.Recognised, s.Unknown = f.recognised, f.unknown
	failed := s.Scan(r)
	if last, ok := s.Last(); ok && name != "-" {
		f.clock.SawEnd(last, changed)
	}
	f.settled = true
	if err := f.flush(); err != nil {
		return err
	}
	if doubt := f.clock.Doubt(); doubt != "" {
		fmt.Fprintf(m.p.stderr, "stallmark: %s: zone %s\n", oneLine(name), oneLine(doubt))
	}
	if failed != nil {
		return fmt.Errorf("%s, after line %d: %w", name, s.Lines(), failed)
	}
	return nil
}

// recognised takes in a line, and prints it when the zone is known.
func (f *matchFile) recognised(r match.Record) {
	row := f.row(r)
	if f.m.counts == nil {
		f.m.counts = map[string]int64{}
	}
	f.m.counts[row.Pattern]++
	f.m.faults = f.m.faults || pointsAtFault(r.Hit.Pattern)
	if row.stamped && !row.began.IsZero() {
		f.clock.SawStart(row.stamp, row.began, row.took)
	}
	f.pending = append(f.pending, row)
	f.settled = f.settled || len(f.pending) >= maxPending || f.clock.Zone().Proof >= stamp.Proven
	if f.settled {
		f.flush()
	}
}

// row keeps what is needed of a line, since its text is not ours.
func (f *matchFile) row(r match.Record) *matchRow {
	row := &matchRow{
		File: f.name, Line: r.Line, Pattern: r.Hit.Pattern.ID, Product: r.Hit.Pattern.Product, Proof: r.Hit.Pattern.Proof,
		Fields: fieldTexts(r.Hit), Values: map[string]float64{}, Text: printable(r.Text), stamp: r.Stamp, stamped: r.Stamped,
	}
	for _, field := range r.Hit.Fields {
		if field.OK {
			row.Values[field.Name] = field.Value
		}
		row.Fields[field.Name] = printable(field.Text)
	}
	row.took, _ = r.Hit.Duration()
	row.began, _ = r.Hit.Began()
	return row
}

// printable is text as it can stand in JSON, cut to a bearable length.
func printable(text []byte) string {
	return strings.ToValidUTF8(string(text[:min(len(text), maxRowText)]), "\uFFFD")
}

// unknown counts a warning that no pattern recognises.
func (f *matchFile) unknown(r match.Record) {
	f.m.shapes.add(match.Shape(r.Text), r.Level, f.name, r.Line, r.Text)
}

// flush resolves the waiting rows and prints them.
func (f *matchFile) flush() error {
	for _, row := range f.pending {
		f.resolve(row)
		if err := f.m.out.row(row); err != nil {
			f.pending = nil
			return err
		}
	}
	f.pending = f.pending[:0]
	return nil
}

// resolve finds the time of a row.
func (f *matchFile) resolve(row *matchRow) {
	if !row.stamped {
		row.Note = "no time stamp in the line or before it"
		return
	}
	span, ok := f.clock.Resolve(row.stamp, row.Product)
	row.Note = span.Note
	if row.stamp.Kind == stamp.Uptime && f.m.told.boot.IsZero() {
		row.Note += " (--boot tells it)"
	}
	if !ok {
		return
	}
	span = span.Lasted(row.took, row.began)
	from, to := span.From.Format(model.JSONTime), span.To.Format(model.JSONTime)
	row.From, row.To, row.Zone = &from, &to, span.Zone.String()
	row.Early, row.Late = float64(span.Early)/1e6, float64(span.Late)/1e6
}
