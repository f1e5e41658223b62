package web

import (
	"net/http"

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
}

// newServer makes a server without its routes.
func newServer(cfg Config, assets view.Assets) *server {
	return &server{cfg: cfg, assets: assets, seats: make(chan struct{}, seats), parser: parser.NewParser(parser.Options{})}
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
	r := chi.NewRouter()
	r.Use(
		s.recovered,
		headers,
		s.knownHost,
		crossOrigin,
		readOnly,
		middleware.GetHead,
	)
	r.NotFound(s.noPage)
	for _, f := range files {
		r.Get(f.path, f.serve)
	}
	r.Group(func(r chi.Router) {
		r.Use(middleware.Compress(5, "text/html", "application/json"), s.timed)
		s.routes(r)
	})
	return r, nil
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

// crossOrigin refuses state changes that another site's page asks for. Nothing
// changes state now; it is here before anything does.
func crossOrigin(next http.Handler) http.Handler {
	var protection http.CrossOriginProtection
	return protection.Handler(next)
}
