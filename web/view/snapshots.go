package view

import (
	"strconv"
	"time"

	"stallmark/web/format"
)

// SnapshotRow is a snapshot in a list.
type SnapshotRow struct {
	ID, Title, By, Host, Link string
	Created, From, To, Opened time.Time
	Size                      int64 // bytes
	Links, Over               int   // that are good, that have expired
	Redacted, Cut             bool
}

// LinksInWords says how many there are to it.
func (r SnapshotRow) LinksInWords() string {
	switch {
	case r.Links > 0:
		return count(r.Links, "good link", "good links")
	case r.Over > 0:
		return "expired"
	}
	return "none"
}

// Short is the beginning of the id, to tell snapshots apart by.
func (r SnapshotRow) Short() string { return r.ID[:min(len(r.ID), 12)] }

// Bytes is the size in words.
func (r SnapshotRow) Bytes() string { return format.Value(float64(r.Size), "bytes") }

// Span is how long a time it holds.
func (r SnapshotRow) Span() string { return format.Span(r.To.Sub(r.From)) }

// Snapshots is the list of snapshots.
type Snapshots struct {
	Page
	Rows []SnapshotRow
	Room string // how much of it is used
	May  bool   // the visitor may change something
}

// SharedLink is a link to a snapshot, as its owner sees it.
type SharedLink struct {
	URL, Name, By            string
	Created, Expires, Opened time.Time
	Opens                    int
	Over                     bool
}

// SnapshotPage is what its owner sees of a snapshot.
type SnapshotPage struct {
	Page
	Row    SnapshotRow
	Meta   []Pair
	Shared []SharedLink
	Parent string // link to the one that was redacted
	Today  bool   // today's rules can be asked
	Nearby bool   // links lead to this machine only
	May    bool
}

// path is that of the snapshot, with something after it.
func (s SnapshotPage) path(rest string) string { return "/snapshots/" + s.Row.ID + rest }

// Login is the form for the admin token.
type Login struct {
	Page
	Token, Next string
	May         bool
}

// Today is what the rules as they are now say of a snapshot.
type Today struct {
	Rules string   // version of the pack
	Same  []string // signatures that fire as they did
	New   []string // that did not fire then
	Gone  []string // that fired then only
}

// millis is a time in a form.
func millis(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

// TodayVerdict is the page of it.
type TodayVerdict struct {
	Page
	Row  SnapshotRow
	Then string // version of the rules of the snapshot
	Today
}

// Export is a snapshot as one file.
type Export struct {
	Style, Report, Archive, Version, Host string
	Created                               time.Time
	Redacted                              bool
	Sheets                                []Sheet
}

// Sheet is a page of it, as HTML that was rendered before.
type Sheet struct{ ID, Title, Body string }

// exportPolicy allows the file's own style and nothing else.
const exportPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

// Redact is the preview of a redacted snapshot.
type Redact struct {
	Page
	Row      SnapshotRow
	Paths    bool
	Words    string
	Replaced []Replacement
	Leaving  []string // texts of the host that stay in it
	More     int      // that are not shown
	All      string   // where they are
}

// Replacement is a text and what stands for it.
type Replacement struct {
	Kind, From, To string
	Times          int
}
