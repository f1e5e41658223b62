package web

import (
	"fmt"
	"net/http"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5"

	"stallmark/storage/snapshot"
	"stallmark/web/format"
	"stallmark/web/view"
)

// snapshots lists them.
func (s *server) snapshots(r *http.Request, w view.Window) (templ.Component, error) {
	list, err := s.sharing.Folder.List()
	if err != nil {
		return nil, err
	}
	page := view.Snapshots{Page: s.frame(r, w, "Snapshots"), May: s.may(r)}
	page.Twin = "/api/v1/snapshots"
	page.Room = roomOf(list, s.sharing.Folder.MaxBytes())
	for _, info := range list {
		page.Rows = append(page.Rows, s.snapshotRow(info, w))
	}
	return view.SnapshotsPage(page), nil
}

// roomOf says how much of their room snapshots take.
func roomOf(list []snapshot.Info, most int64) string {
	var used int64
	for _, info := range list {
		used += info.Size
	}
	return fmt.Sprintf("%s of %s are used. What somebody has frozen stays until it is deleted; of those that were made by themselves the oldest without a link make room.",
		format.Value(float64(used), "bytes"), format.Value(float64(most), "bytes"))
}

func (s *server) snapshotRow(info snapshot.Info, w view.Window) view.SnapshotRow {
	row := view.SnapshotRow{
		ID: info.ID, Title: format.Clean(info.Meta.Title), By: format.Clean(info.Meta.By), Host: format.Clean(info.Meta.Host), Size: info.Size,
		Created: info.Meta.Created, From: info.Meta.From, To: info.Meta.To, Redacted: info.Meta.Redacted, Cut: len(info.Meta.Cut) > 0, Link: w.Link("snapshots", info.ID),
	}
	now := s.cfg.Now()
	for _, l := range s.sharing.Folder.Links(info.ID) {
		if l.Expires.After(now) {
			row.Links++
		} else {
			row.Over++
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
	page.Nearby = s.nearby(r)
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
