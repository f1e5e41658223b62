package web

import (
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/prometheus/prometheus/promql/parser"

	"stallmark/web/view"
)

// server answers requests from a backend.
type server struct {
	cfg     Config
	assets  view.Assets
	seats   chan struct{} // one for each request under way
	parser  parser.Parser
	auditor auditor
	shared  shared
	lines   recent
	reports reports
	frozen  *frozenSight // of a snapshot; nil for the live host
	sharing *sharing     // nil: nothing is frozen
	triages triages
	// triaging bounds how often texts are judged.
	triaging   limiter
	triageSeat chan struct{} // one text at a time
}

// newServer makes a server without its routes.
func newServer(cfg Config, assets view.Assets) *server {
	return &server{
		triaging: limiter{now: cfg.Now, every: 2 * time.Second, burst: 4}, triageSeat: make(chan struct{}, 1),
		cfg: cfg, assets: assets, seats: make(chan struct{}, seats), parser: parser.NewParser(parser.Options{}),
	}
}

// seats bounds the requests that are worked on at once; others wait for their
// turn within their own time.
const seats = 4

// New makes the page's handler. It has no state to close.
func New(cfg Config) (http.Handler, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	files, paths, err := hashedAssets()
	if err != nil {
		return nil, err
	}
	s := newServer(cfg, paths)
	if s.sharing, err = newSharing(cfg); err != nil {
		return nil, err
	}
	r := chi.NewRouter()
	r.Use(
		s.recovered,
		headers,
		s.knownHost,
		crossOrigin,
		s.bounded,
		middleware.GetHead,
	)
	r.NotFound(s.reader(http.HandlerFunc(s.noPage)).ServeHTTP)
	r.MethodNotAllowed(s.noMethod)
	r.Group(func(r chi.Router) {
		r.Use(middleware.Compress(5, "text/css", "text/javascript"))
		for _, f := range files {
			r.Get(f.path, f.serve)
		}
	})
	r.Group(func(r chi.Router) {
		r.Use(middleware.Compress(5, "text/html", "text/plain", "application/json", "application/openmetrics-text"), s.timed)
		s.linkRoutes(r)
		r.Group(func(r chi.Router) {
			r.Use(s.reader)
			s.routes(r)
			r.Get("/metrics", s.metrics)
			s.shareRoutes(r)
			s.triageRoutes(r)
		})
	})
	return r, nil
}

// linkRoutes are what a link to a snapshot opens: its token is all it needs.
func (s *server) linkRoutes(r chi.Router) {
	if s.sharing != nil {
		r.Get("/s/{token}", s.byLink)
		r.Get("/s/{token}/*", s.byLink)
	}
}

// triageRoutes are the page for texts. It changes nothing, so it needs no token.
func (s *server) triageRoutes(r chi.Router) {
	if s.cfg.Triage == nil {
		return
	}
	r.Get("/triage", s.page(s.triageForm))
	r.Post("/triage", s.postTriage)
	r.Get("/triage/{id}", s.triageResult)
	r.Get("/triage/{id}/*", s.triageResult)
}

// shareRoutes are the owner's side of snapshots.
func (s *server) shareRoutes(r chi.Router) {
	if s.sharing == nil {
		return
	}
	r.Get("/snapshots", s.private(s.snapshots))
	r.Get("/api/v1/snapshots", s.json(s.snapshotsJSON))
	r.Get("/snapshots/{id}", s.private(s.oneSnapshot))
	r.Get("/api/v1/snapshots/{id}", s.json(s.oneSnapshotJSON))
	r.Get("/snapshots/{id}/view", s.ownView)
	r.Get("/snapshots/{id}/view/*", s.ownView)
	r.Get("/snapshots/{id}/archive", s.archive)
	r.Get("/snapshots/{id}/html", s.htmlFile)
	r.Get("/snapshots/{id}/redact", s.private(s.redact))
	r.Post("/snapshots/{id}/redact", s.change(s.postRedact))
	r.Get("/snapshots/{id}/today", s.private(s.today))
	r.Get("/login", s.private(s.login))

	r.Post("/login", s.postLogin)
	r.Post("/snapshots", s.change(s.postSnapshot))
	r.Post("/api/v1/snapshots", s.snapshotPostJSON)
	r.Post("/snapshots/import", s.change(s.postImport))
	r.Post("/snapshots/{id}/links", s.change(s.postLink))
	r.Post("/snapshots/{id}/links/{name}/revoke", s.change(s.postRevoke))
	r.Post("/snapshots/{id}/delete", s.change(s.postDelete))
}

// routes are all the paths there are, each page beside its JSON.
func (s *server) routes(r chi.Router) {
	r.Get("/", s.page(s.overview))
	r.Get("/api/v1/report", s.json(s.reportJSON))

	r.Get("/incidents", s.page(s.incidents))
	r.Get("/api/v1/incidents", s.json(s.incidentsJSON))
	r.Get("/incidents/{id}", s.page(s.incident))
	r.Get("/api/v1/incidents/{id}", s.json(s.incidentOneJSON))
	r.Get("/api/v1/incidents/{id}/postmortem", s.postmortem)

	r.Get("/findings", s.page(s.findings))
	r.Get("/api/v1/findings", s.json(s.findingsJSON))
	r.Get("/findings/{id}", s.page(s.finding))
	r.Get("/api/v1/findings/{id}", s.json(s.findingJSON))

	r.Get("/disks", s.page(s.disks))
	r.Get("/api/v1/disks", s.json(s.disksJSON))

	r.Get("/pagecache", s.page(s.pageCache))
	r.Get("/api/v1/pagecache", s.json(s.pageCacheJSON))

	r.Get("/logs", s.page(s.logs))
	r.Get("/api/v1/logs", s.json(s.logsJSON))

	r.Get("/jvm", s.page(s.jvm))
	r.Get("/api/v1/jvm", s.json(s.jvmJSON))

	r.Get("/signatures", s.page(s.signatures))
	r.Get("/api/v1/signatures", s.json(s.signaturesJSON))
	r.Get("/signatures/{id}", s.page(s.signature))
	r.Get("/api/v1/signatures/{id}", s.json(s.signatureJSON))

	r.Get("/audit", s.page(s.auditPage))
	r.Get("/api/v1/audit", s.json(s.auditJSON))

	r.Get("/status", s.page(s.status))
	r.Get("/api/v1/status", s.json(s.statusJSON))

	r.Get("/api/v1/cliffs", s.json(s.cliffsJSON))
	r.Get("/api/v1/costs", s.json(s.costsJSON))
	r.Get("/api/v1/baselines", s.json(s.baselinesJSON))
}

// crossOrigin refuses state changes that another site's page asks for.
func crossOrigin(next http.Handler) http.Handler {
	var protection http.CrossOriginProtection
	return protection.Handler(next)
}
