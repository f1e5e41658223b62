package web

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"stallmark/web/format"
	"stallmark/web/view"
)

// Bounds of a window. A longer one would make a chart's query unbounded.
const (
	maxSpan = 31 * 24 * time.Hour
	minSpan = 5 * time.Second
)

// defaultRange is the window of a page that names none.
const defaultRange = "15m"

// window reads the time window of a request: range=15m ends now, from= and to=
// (RFC 3339 or milliseconds since the epoch) are fixed. Times fall on beats.
func (s *server) window(r *http.Request) (view.Window, error) {
	q := r.URL.Query()
	w := view.Window{Local: q.Get("tz") == "local", Path: r.URL.Path}
	if tz := q.Get("tz"); tz != "" && tz != "utc" && tz != "local" {
		return w, badRequest("tz=%s: want utc or local", tz)
	}
	if s.frozen != nil {
		return s.inside(w, q)
	}
	if q.Has("from") || q.Has("to") {
		return s.fixed(w, q)
	}
	w.Range = q.Get("range")
	if w.Range == "" {
		w.Range = defaultRange
	}
	span, ok := view.RangeSpan(w.Range)
	if !ok {
		return w, badRequest("range=%s: want one of %s", w.Range, view.RangeNames())
	}
	w.Live = true
	w.To = s.cfg.Now().UTC().Truncate(s.cfg.Interval)
	w.From = w.To.Add(-span)
	return w, nil
}

// inside is a part of a snapshot's time, all of it unless the request says
// otherwise. What lies outside is cut off.
func (s *server) inside(w view.Window, q url.Values) (view.Window, error) {
	whole := s.frozen.whole
	w.Base, w.From, w.To = whole.Base, whole.From, whole.To
	if !q.Has("from") && !q.Has("to") {
		return w, nil
	}
	part, err := s.fixed(w, q)
	if err != nil {
		return w, err
	}
	if part.From.After(w.From) {
		w.From = part.From
	}
	if part.To.Before(w.To) {
		w.To = part.To
	}
	if w.To.Sub(w.From) < minSpan {
		return w, badRequest("The snapshot reaches from %s to %s.", format.Stamp(whole.From), format.Stamp(whole.To))
	}
	return w, nil
}

func (s *server) fixed(w view.Window, q url.Values) (view.Window, error) {
	from, err := parseTime(q.Get("from"))
	if err != nil {
		return w, badRequest("from=%s: want a time as in 2026-03-01T03:12:41Z, or milliseconds since the epoch", q.Get("from"))
	}
	to := s.cfg.Now().UTC()
	if q.Get("to") != "" {
		if to, err = parseTime(q.Get("to")); err != nil {
			return w, badRequest("to=%s: want a time as in 2026-03-01T03:12:41Z, or milliseconds since the epoch", q.Get("to"))
		}
	}
	w.From, w.To = from.Truncate(s.cfg.Interval), to.Truncate(s.cfg.Interval)
	switch span := w.To.Sub(w.From); {
	case span < minSpan:
		return w, badRequest("the window is %v long: want at least %v", span, minSpan)
	case span > maxSpan:
		return w, badRequest("the window is %v long: want at most %v", span, maxSpan)
	}
	return w, nil
}

// leastShown is how long a live window of a young recording is at least.
const leastShown = time.Minute

// fitted lets a live window begin with the recording, if that is younger: its
// minutes then fill the page.
func (s *server) fitted(ctx context.Context, w view.Window) view.Window {
	if !w.Live {
		return w
	}
	oldest, _ := s.cfg.Backend.Extent(ctx)
	// The store knows its beginning by the minute; it may be that of this process.
	if started := s.cfg.Backend.Health(ctx).Started; started.After(oldest) && started.Sub(oldest) < time.Minute {
		oldest = started
	}
	from := oldest.UTC().Truncate(s.cfg.Interval)
	if latest := w.To.Add(-leastShown); from.After(latest) {
		from = latest
	}
	if !oldest.IsZero() && from.After(w.From) {
		w.From, w.Began = from, oldest.UTC()
	}
	return w
}

// parseTime reads RFC 3339 or milliseconds since the epoch, within the years
// that such a number can mean here.
func parseTime(text string) (time.Time, error) {
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil {
		if ms < 0 || ms > 1<<43 {
			return time.Time{}, strconv.ErrRange
		}
		return time.UnixMilli(ms).UTC(), nil
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err == nil && (t.Year() < 1970 || t.Year() > 2240) {
		err = strconv.ErrRange
	}
	return t.UTC(), err
}
