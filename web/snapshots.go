package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5"

	"stallmark/storage/snapshot"
	"stallmark/web/format"
	"stallmark/web/view"
)

// Shares is what a server needs to freeze incidents and to share them.
type Shares struct {
	Folder  *snapshot.Folder
	Samples func(ctx context.Context, from, to time.Time) ([]snapshot.Series, error)
	// ExternalURL is put before the links that are sent to others, without a
	// slash at its end; empty: the address by which the page was asked for.
	ExternalURL string
	// Today judges a snapshot with the rules as they are now; nil: it cannot.
	Today func(ctx context.Context, s *snapshot.Snapshot) (view.Today, error)
}

// sharing is the server's state about snapshots.
type sharing struct {
	Shares
	freezer *Freezer
	making  limiter // of what costs: freezing, importing, redacting, signing in
	opening limiter // of links

	mu    sync.Mutex
	shown map[string]*shownSnapshot
}

// shownSnapshot keeps the pages of a snapshot for those who look at it now.
type shownSnapshot struct {
	snapshot *snapshot.Snapshot
	used     time.Time
}

// maxShown is how many snapshots are kept decoded.
const maxShown = 4

func newSharing(cfg Config) (*sharing, error) {
	if cfg.Shares == nil {
		return nil, nil
	}
	f, err := NewFreezer(cfg, cfg.Shares.Samples)
	return &sharing{
		Shares: *cfg.Shares, freezer: f, shown: map[string]*shownSnapshot{},
		making: limiter{now: cfg.Now, every: 3 * time.Second, burst: 5}, opening: limiter{now: cfg.Now, every: 50 * time.Millisecond, burst: 100},
	}, err
}

// get reads a snapshot, or has it from those who looked before.
func (s *sharing) get(id string, now time.Time) (*snapshot.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one, ok := s.shown[id]; ok {
		if _, err := s.Folder.Info(id); err != nil { // deleted meanwhile
			delete(s.shown, id)
			return nil, err
		}
		one.used = now
		return one.snapshot, nil
	}
	got, err := s.Folder.Get(id)
	if err != nil {
		return nil, err
	}
	if len(s.shown) >= maxShown {
		oldest := ""
		for id, one := range s.shown {
			if oldest == "" || one.used.Before(s.shown[oldest].used) {
				oldest = id
			}
		}
		delete(s.shown, oldest)
	}
	s.shown[id] = &shownSnapshot{got, now}
	return got, nil
}

// snapshotError turns an error of the folder into one for the visitor.
func snapshotError(err error) error {
	switch {
	case errors.Is(err, snapshot.ErrGone):
		return notFound("There is no such snapshot. It may have been deleted.")
	case errors.Is(err, snapshot.ErrLimit):
		return &failure{status: http.StatusInsufficientStorage, message: capital(err.Error()) + ".", cause: err}
	case errors.Is(err, snapshot.ErrNewer), errors.Is(err, snapshot.ErrNot):
		return &failure{status: http.StatusUnprocessableEntity, message: capital(err.Error()) + ".", cause: err}
	}
	return err
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + format.Clean(s[1:])
}

// snapshots lists them.
func (s *server) snapshots(r *http.Request, w view.Window) (templ.Component, error) {
	list, err := s.sharing.Folder.List()
	if err != nil {
		return nil, err
	}
	page := view.Snapshots{Page: s.frame(r, w, "Snapshots"), May: s.may(r)}
	page.Twin = "/api/v1/snapshots"
	for _, info := range list {
		page.Rows = append(page.Rows, s.snapshotRow(info, w))
	}
	return view.SnapshotsPage(page), nil
}

func (s *server) snapshotRow(info snapshot.Info, w view.Window) view.SnapshotRow {
	row := view.SnapshotRow{
		ID: info.ID, Title: format.Clean(info.Meta.Title), By: info.Meta.By, Host: format.Clean(info.Meta.Host), Size: info.Size,
		Created: info.Meta.Created, From: info.Meta.From, To: info.Meta.To, Redacted: info.Meta.Redacted, Link: w.Link("snapshots", info.ID),
	}
	now := s.cfg.Now()
	for _, l := range s.sharing.Folder.Links(info.ID) {
		if l.Expires.After(now) {
			row.Links++
		}
		if l.Opened.After(row.Opened) {
			row.Opened = l.Opened
		}
	}
	return row
}

// snapshotData is a snapshot in the JSON.
type snapshotData struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	By       string `json:"by"`
	Host     string `json:"host"`
	Created  string `json:"created"`
	From     string `json:"from"`
	To       string `json:"to"`
	Size     int64  `json:"size_bytes"`
	Redacted bool   `json:"redacted"`
	Parent   string `json:"parent,omitempty"`
	Links    int    `json:"links"`
}

func (s *server) snapshotData(info snapshot.Info) snapshotData {
	m := info.Meta
	return snapshotData{
		ID: info.ID, Title: m.Title, By: m.By, Host: m.Host, Created: format.ISO(m.Created), From: format.ISO(m.From), To: format.ISO(m.To),
		Size: info.Size, Redacted: m.Redacted, Parent: m.Parent, Links: len(s.sharing.Folder.Links(info.ID)),
	}
}

func (s *server) snapshotsJSON(*http.Request, view.Window) (any, error) {
	list, err := s.sharing.Folder.List()
	out := []snapshotData{}
	for _, info := range list {
		out = append(out, s.snapshotData(info))
	}
	return out, err
}

// oneSnapshot shows what a snapshot is and what can be done with it.
func (s *server) oneSnapshot(r *http.Request, w view.Window) (templ.Component, error) {
	info, err := s.sharing.Folder.Info(chi.URLParam(r, "id"))
	if err != nil {
		return nil, snapshotError(err)
	}
	page := view.SnapshotPage{Page: s.frame(r, w, info.Meta.Title), Row: s.snapshotRow(info, w), Meta: metaOf(info.Meta), May: s.may(r)}
	page.Twin = "/api/v1/snapshots/" + info.ID
	page.Today = s.sharing.Today != nil
	if info.Meta.Parent != "" {
		if _, err := s.sharing.Folder.Info(info.Meta.Parent); err == nil {
			page.Parent = w.Link("snapshots", info.Meta.Parent)
		}
	}
	if page.May { // a token is for those to whom it is sent
		for _, l := range s.sharing.Folder.Links(info.ID) {
			page.Shared = append(page.Shared, view.SharedLink{
				URL: s.absolute(r, "/s/"+l.Token), Name: l.Name(), By: l.By, Created: l.Created, Expires: l.Expires,
				Opened: l.Opened, Opens: l.Opens, Over: !l.Expires.After(s.cfg.Now()),
			})
		}
	}
	return view.OneSnapshotPage(page), nil
}

func metaOf(m snapshot.Meta) []view.Pair {
	pairs := []view.Pair{
		{Name: "Stallmark", Value: format.Clean(m.Version)}, {Name: "Rules", Value: format.Clean(m.Rules)}, {Name: "Beat", Value: m.Interval.String()},
	}
	for _, cut := range m.Cut {
		pairs = append(pairs, view.Pair{Name: "Left out", Value: format.Clean(cut)})
	}
	return pairs
}

func (s *server) oneSnapshotJSON(r *http.Request, _ view.Window) (any, error) {
	info, err := s.sharing.Folder.Info(chi.URLParam(r, "id"))
	if err != nil {
		return nil, snapshotError(err)
	}
	return s.snapshotData(info), nil
}

// absolute is a path as somebody elsewhere has to write it.
func (s *server) absolute(r *http.Request, path string) string {
	if s.sharing.ExternalURL != "" {
		return s.sharing.ExternalURL + path
	}
	scheme := "http"
	if s.cfg.Secure {
		scheme = "https"
	}
	return scheme + "://" + r.Host + path
}

// ownView shows a snapshot to its owner, without a link.
func (s *server) ownView(rw http.ResponseWriter, r *http.Request) {
	id := chi.URLParam(r, "id")
	got, err := s.sharing.get(id, s.cfg.Now())
	if err != nil {
		s.fail(rw, r, snapshotError(err))
		return
	}
	s.showFrozen(rw, r, got, Sight{Base: "/snapshots/" + id + "/view", ID: id, Logger: s.cfg.Logger})
}

func (s *server) showFrozen(rw http.ResponseWriter, r *http.Request, got *snapshot.Snapshot, sight Sight) {
	h, err := ShowSnapshot(got, sight)
	if err != nil {
		s.fail(rw, r, err)
		return
	}
	// The pages have a router of their own; chi would go on with ours.
	h.ServeHTTP(rw, r.WithContext(context.WithValue(r.Context(), chi.RouteCtxKey, nil)))
}

// archive sends a snapshot's file.
func (s *server) archive(rw http.ResponseWriter, r *http.Request) {
	info, err := s.sharing.Folder.Info(chi.URLParam(r, "id"))
	if err != nil {
		s.fail(rw, r, snapshotError(err))
		return
	}
	in, err := s.sharing.Folder.Raw(info.ID)
	if err != nil {
		s.fail(rw, r, snapshotError(err))
		return
	}
	defer in.Close()
	rw.Header().Set("Content-Type", "application/octet-stream")
	rw.Header().Set("Content-Disposition", `attachment; filename="`+fileName(info)+snapshot.Suffix+`"`)
	rw.Header().Set("Content-Length", strconv.FormatInt(info.Size, 10))
	_, _ = io.Copy(rw, in) // the visitor has left; there is nobody to tell
}

// fileName is a name for a download: the time and the beginning of the id.
func fileName(info snapshot.Info) string {
	return "stallmark-" + info.Meta.From.UTC().Format("20060102T150405Z") + "-" + info.ID[:12]
}

// byLink serves what a link shows. Whoever has no good token learns nothing,
// not even the host's name.
func (s *server) byLink(rw http.ResponseWriter, r *http.Request) {
	if !s.sharing.opening.allow() {
		http.Error(rw, "429: too many requests, try again", http.StatusTooManyRequests)
		return
	}
	token := chi.URLParam(r, "token")
	l, err := s.sharing.Folder.Resolve(token)
	var got *snapshot.Snapshot
	if err == nil {
		got, err = s.sharing.get(l.Snapshot, s.cfg.Now())
	}
	if err != nil {
		if !errors.Is(err, snapshot.ErrGone) {
			s.cfg.Logger.Error("shared snapshot", "error", err)
		}
		s.stranger().fail(rw, r, notFound("There is nothing at this link. It may have expired or been revoked; ask for a new one."))
		return
	}
	base := "/s/" + token
	if r.URL.Path == base {
		if err := s.sharing.Folder.Opened(token); err != nil {
			s.cfg.Logger.Warn("shared snapshot", "error", err)
		}
	}
	s.showFrozen(rw, r, got, Sight{Base: base, ID: l.Snapshot, Expires: l.Expires, Logger: s.cfg.Logger})
}

// stranger is a server that knows nothing, for the pages of errors.
func (s *server) stranger() *server {
	one := newServer(Config{Now: s.cfg.Now, Interval: s.cfg.Interval, Logger: s.cfg.Logger}, s.assets)
	one.frozen = &frozenSight{note: &view.Frozen{}, whole: view.Window{Base: "/s"}}
	return one
}

// freeze makes a snapshot of the times in a form.
func (s *server) freeze(r *http.Request) (snapshot.Info, error) {
	from, err1 := parseTime(r.PostFormValue("from"))
	to, err2 := parseTime(r.PostFormValue("to"))
	if err := errors.Join(err1, err2); err != nil {
		return snapshot.Info{}, badRequest("from and to: want times as in 2026-03-01T03:12:41Z, or milliseconds since the epoch")
	}
	by := "page"
	if wantsJSON(r) {
		by = "command"
	}
	return s.sharing.Make(r.Context(), Order{From: from, To: to, By: by})
}

// Make freezes what an order says and keeps it.
func (s *sharing) Make(ctx context.Context, o Order) (snapshot.Info, error) {
	got, err := s.freezer.Freeze(ctx, o)
	if err != nil {
		return snapshot.Info{}, err
	}
	info, err := s.Folder.Put(got)
	return info, snapshotError(err)
}

// goodFor reads for how long a link is to be good, in hours.
func goodFor(text string) (time.Duration, error) {
	if text == "" {
		return snapshot.DefaultExpiry, nil
	}
	hours, err := strconv.Atoi(text)
	if err != nil || hours < 1 || hours > 24*366 {
		return 0, badRequest("hours=%s: want 1 to %d", text, 24*366)
	}
	return time.Duration(hours) * time.Hour, nil
}

// local is a path of ours to go back to, the start page for anything else.
func local(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n") {
		return "/"
	}
	return path
}

var errNotAllowed = &failure{
	status:  http.StatusForbidden,
	message: "This changes something, so it needs the admin token. It stands in the file admin-token in the data folder; sign in with it first.",
}

// may reports whether the visitor may change something.
func (s *server) may(r *http.Request) bool { return s.cfg.Admin != nil && s.cfg.Admin.Allowed(r) }

// admitted lets a change through that comes with the token and not too soon
// after others; otherwise it answers.
func (s *server) admitted(rw http.ResponseWriter, r *http.Request) bool {
	switch {
	case !s.may(r):
		s.fail(rw, r, errNotAllowed)
	case !s.sharing.making.allow():
		s.fail(rw, r, &failure{status: http.StatusTooManyRequests, message: "Too many at once. Try again in some seconds."})
	default:
		return true
	}
	return false
}

// change serves a POST that changes something: it needs the token, is bounded,
// and ends in a page to go to.
func (s *server) change(do func(r *http.Request) (next string, err error)) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		if !s.admitted(rw, r) {
			return
		}
		next, err := do(r)
		if err != nil {
			s.fail(rw, r, err)
			return
		}
		http.Redirect(rw, r, next, http.StatusSeeOther)
	}
}

func (s *server) postSnapshot(r *http.Request) (string, error) {
	info, err := s.freeze(r)
	return "/snapshots/" + info.ID, err
}

func (s *server) postLink(r *http.Request) (string, error) {
	id := chi.URLParam(r, "id")
	good, err := goodFor(r.PostFormValue("hours"))
	if err != nil {
		return "", err
	}
	_, err = s.sharing.Folder.NewLink(id, "page", good)
	return "/snapshots/" + id, snapshotError(err)
}

func (s *server) postRevoke(r *http.Request) (string, error) {
	return "/snapshots/" + chi.URLParam(r, "id"), snapshotError(s.sharing.Folder.Revoke(chi.URLParam(r, "name")))
}

func (s *server) postDelete(r *http.Request) (string, error) {
	return "/snapshots", snapshotError(s.sharing.Folder.Delete(chi.URLParam(r, "id")))
}

// postImport takes a snapshot's file.
func (s *server) postImport(r *http.Request) (string, error) {
	file, _, err := r.FormFile("file")
	if err != nil {
		return "", badRequest("Choose a .stallmark file first.")
	}
	defer file.Close()
	info, err := s.sharing.Folder.Import(file)
	return "/snapshots/" + info.ID, snapshotError(err)
}

// snapshotPostJSON makes a snapshot for a command.
func (s *server) snapshotPostJSON(rw http.ResponseWriter, r *http.Request) {
	if !s.admitted(rw, r) {
		return
	}
	info, err := s.freeze(r)
	if err != nil {
		s.fail(rw, r, err)
		return
	}
	s.json(func(*http.Request, view.Window) (any, error) { return s.snapshotData(info), nil })(rw, r)
}

// login shows the form in which the token is entered. The link that start-up
// prints has it filled in.
func (s *server) login(r *http.Request, w view.Window) (templ.Component, error) {
	page := view.Login{Page: s.frame(r, w, "Sign in"), Token: r.URL.Query().Get("token"), Next: local(r.URL.Query().Get("next")), May: s.may(r)}
	return view.LoginPage(page), nil
}

func (s *server) postLogin(rw http.ResponseWriter, r *http.Request) {
	if !s.sharing.making.allow() {
		s.fail(rw, r, &failure{status: http.StatusTooManyRequests, message: "Too many tries. Wait some seconds."})
		return
	}
	if r.PostFormValue("out") != "" {
		s.cfg.Admin.Forget(rw)
		http.Redirect(rw, r, "/", http.StatusSeeOther)
		return
	}
	if s.cfg.Admin == nil || !s.cfg.Admin.Knows(strings.TrimSpace(r.PostFormValue("token"))) {
		s.fail(rw, r, &failure{status: http.StatusForbidden, message: fmt.Sprintf("That is not the admin token. It stands in the file %s in the data folder.", "admin-token")})
		return
	}
	s.cfg.Admin.Remember(rw, s.cfg.Secure)
	http.Redirect(rw, r, local(r.PostFormValue("next")), http.StatusSeeOther)
}
