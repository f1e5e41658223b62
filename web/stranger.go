package web

import (
	"context"
	"net/http"
	"strings"

	"stallmark/web/view"
)

// linkPath is what the paths of links to snapshots begin with.
const linkPath = "/s/"

// readerKey marks the requests of those who have shown that they may read.
type readerKey struct{}

func knownReader(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), readerKey{}, true))
}

// isStranger reports whether somebody asks who has not shown that they may read:
// an error tells them nothing of this host, not even its name.
func (s *server) isStranger(r *http.Request) bool {
	if s.frozen != nil { // whoever comes so far had a token
		return false
	}
	return strings.HasPrefix(r.URL.Path, linkPath) || s.cfg.Basic != nil && r.Context().Value(readerKey{}) == nil
}

// knowsNothing is a server that knows nothing, for the errors of strangers.
func (s *server) knowsNothing() *server {
	one := newServer(Config{Now: s.cfg.Now, Interval: s.cfg.Interval, Logger: s.cfg.Logger}, s.assets)
	one.frozen = &frozenSight{note: &view.Frozen{}, whole: view.Window{Base: "/s"}}
	return one
}

// pathForLog is the path of a request without the token of a link: whoever reads
// the log or an error need not be able to open it.
func pathForLog(r *http.Request) string {
	token, ok := strings.CutPrefix(r.URL.Path, linkPath)
	if !ok {
		return r.URL.Path
	}
	if _, rest, ok := strings.Cut(token, "/"); ok {
		return linkPath + "TOKEN/" + rest
	}
	return linkPath + "TOKEN"
}
