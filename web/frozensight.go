package web

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"stallmark/storage/snapshot"
	"stallmark/web/frozen"
	"stallmark/web/view"
)

// frozenSight is what a server knows that shows a snapshot, or makes one.
type frozenSight struct {
	devices string       // matcher of the disks that the charts show
	note    *view.Frozen // shown in the head of every page
	whole   view.Window  // the time of the snapshot
}

// snapshotTitle is the title of every page of a snapshot.
const snapshotTitle = "Stallmark snapshot"

// verdictWindow is the time that a verdict is about: that of the page, or all
// of a snapshot whatever part of it is looked at.
func (s *server) verdictWindow(w view.Window) view.Window {
	if s.frozen == nil || s.frozen.note == nil {
		return w
	}
	w.From, w.To = s.frozen.whole.From, s.frozen.whole.To
	return w
}

// Sight is how a snapshot is shown.
type Sight struct {
	Base    string    // the path below which its pages lie, "/s/TOKEN"
	Expires time.Time // of the link; zero if it has none
	ID      string
	Texts   bool // a verdict about texts, not about a host
	Logger  *slog.Logger
}

// ShowSnapshot makes the pages of a snapshot, below sight.Base. They lead to
// each other and nowhere else.
func ShowSnapshot(s *snapshot.Snapshot, sight Sight) (http.Handler, error) {
	return showFrozen(frozen.New(s), sight)
}

func showFrozen(b *frozen.Backend, sight Sight) (http.Handler, error) {
	_, paths, err := hashedAssets()
	if err != nil {
		return nil, err
	}
	meta := b.Meta()
	cfg := Config{
		Backend: b, Host: meta.Host, Version: meta.Version, Interval: meta.Interval,
		Now: func() time.Time { return meta.To }, Logger: sight.Logger, Logs: frozenLogs(meta.Patterns),
	}
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	one := newServer(cfg, paths)
	one.frozen = &frozenSight{
		devices: meta.Devices,
		note:    &view.Frozen{Texts: sight.Texts, ID: sight.ID, Created: meta.Created, Expires: sight.Expires, Redacted: meta.Redacted, Cut: meta.Cut},
		whole:   view.Window{From: meta.From, To: meta.To, Base: sight.Base},
	}
	r := chi.NewRouter()
	r.NotFound(one.noPage)
	r.Get(sight.Base, one.page(one.overview))
	r.Get(sight.Base+"/incidents", one.page(one.incidents))
	r.Get(sight.Base+"/incidents/{id}", one.page(one.incident))
	r.Get(sight.Base+"/api/v1/incidents/{id}/postmortem", one.postmortem)
	r.Get(sight.Base+"/findings", one.page(one.findings))
	r.Get(sight.Base+"/findings/{id}", one.page(one.finding))
	r.Get(sight.Base+"/logs", one.page(one.logs))
	r.Get(sight.Base+"/jvm", one.page(one.jvm))
	r.Get(sight.Base+"/signatures/{id}", one.page(one.signature))
	return r, nil
}
