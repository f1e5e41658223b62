package view

import (
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Window is the time that a page is about, and the page's path: what its links
// keep.
type Window struct {
	From, To time.Time
	Live     bool   // the end is now
	Range    string // 15m, 1h ... of a live window
	Local    bool   // times in the browser's zone, by script
	Path     string
	Began    time.Time // of the recording, if the window is shorter for it
	Base     string    // path below which all links lie: that of a snapshot's link
	Keep     string    // of the query, besides the window: filters, which the links through time keep
}

// Choice is one of several links of which one is on.
type Choice struct {
	Text, Href, Key string
	On              bool
}

type span struct {
	name string
	d    time.Duration
}

func spans() []span {
	return []span{{"15m", 15 * time.Minute}, {"1h", time.Hour}, {"6h", 6 * time.Hour}, {"24h", 24 * time.Hour}, {"7d", 7 * 24 * time.Hour}}
}

// RangeSpan is the length of a named range.
func RangeSpan(name string) (time.Duration, bool) {
	for _, s := range spans() {
		if s.name == name {
			return s.d, true
		}
	}
	return 0, false
}

// RangeNames lists the named ranges in words.
func RangeNames() string {
	var names []string
	for _, s := range spans() {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}

// Query is the window as the query of a URL, empty for the default one.
func (w Window) Query() string {
	q := url.Values{}
	switch {
	case !w.Live:
		q.Set("from", strconv.FormatInt(w.From.UnixMilli(), 10))
		q.Set("to", strconv.FormatInt(w.To.UnixMilli(), 10))
	case w.Range != "" && w.Range != "15m":
		q.Set("range", w.Range)
	}
	if w.Local {
		q.Set("tz", "local")
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}

// Link is a path of the page, escaped piece by piece, with this window.
func (w Window) Link(pieces ...string) string {
	if w.Base != "" && len(pieces) == 0 {
		return w.Base + w.Query()
	}
	return w.Base + joinPath(pieces) + w.Query()
}

func joinPath(pieces []string) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString("/" + url.PathEscape(p))
	}
	if b.Len() == 0 {
		return "/"
	}
	return b.String()
}

// with is this page with another window.
func (w Window) with(change func(*Window)) string {
	path := (&url.URL{Path: w.Path}).EscapedPath()
	change(&w)
	return joinQuery(path+w.Query(), w.Keep)
}

// Choices are the links to the named ranges, with keys 1 to 5.
func (w Window) Choices() []Choice {
	var all []Choice
	if w.Base != "" {
		return nil // of the past there is no last hour
	}
	for i, s := range spans() {
		href := w.with(func(n *Window) { n.Live, n.Range = true, s.name })
		all = append(all, Choice{s.name, href, strconv.Itoa(i + 1), w.Live && w.Range == s.name})
	}
	return all
}

// Earlier is this page, a half window earlier.
func (w Window) Earlier() string { return w.shift(-1) }

// Later is this page, a half window later.
func (w Window) Later() string { return w.shift(1) }

// Wider is this page with twice as much time.
func (w Window) Wider() string {
	return w.with(func(n *Window) {
		half := (n.To.Sub(n.From) / 2).Truncate(time.Second)
		n.Live, n.From, n.To = false, n.From.Add(-half), n.To.Add(half)
	})
}

func (w Window) shift(sign time.Duration) string {
	return w.with(func(n *Window) {
		half := (n.To.Sub(n.From) / 2).Truncate(time.Second)
		n.Live, n.From, n.To = false, n.From.Add(sign*half), n.To.Add(sign*half)
	})
}

// GoLive is this page, live.
func (w Window) GoLive() string {
	return w.with(func(n *Window) {
		n.Live = true
		if n.Range == "" {
			n.Range = "15m"
		}
	})
}

// Whole is this page with all of a snapshot's time.
func (w Window) Whole() string {
	return joinQuery((&url.URL{Path: w.Path}).EscapedPath(), w.Keep)
}

// Freeze is this page with its window fixed, for a link to send.
func (w Window) Freeze() string { return w.with(func(n *Window) { n.Live = false }) }

// OtherZone is this page with the other way to show times.
func (w Window) OtherZone() string { return w.with(func(n *Window) { n.Local = !n.Local }) }

// Around is a link to a path with the window fixed around a span of time, with
// some of its surroundings.
func (w Window) Around(from, to time.Time, pieces ...string) string {
	return w.Fit(from, to).Link(pieces...)
}

// Fit is a fixed window around a span of time, with some of its surroundings.
func (w Window) Fit(from, to time.Time) Window {
	margin := min(max(to.Sub(from)/3, 30*time.Second), time.Hour)
	w.Live, w.Range = false, ""
	w.From, w.To = from.Add(-margin).Truncate(time.Second), to.Add(margin).Truncate(time.Second)
	return w
}
