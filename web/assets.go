package web

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"stallmark/assets"
	"stallmark/web/view"
)

// asset is an embedded file under a path that carries its hash, so that it may
// be kept for ever.
type asset struct {
	path string
	kind string
	body []byte
}

func (a asset) serve(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(a.body) // the visitor has left; there is nobody to tell
}

// hashedAssets reads the embedded files. Each is a route of its own: there is
// no folder to walk out of.
func hashedAssets() ([]asset, view.Assets, error) {
	var paths view.Assets
	var all []asset
	for _, f := range []struct {
		name, kind string
		into       *string
	}{
		{"stallmark.css", "text/css; charset=utf-8", &paths.CSS},
		{"stallmark.js", "text/javascript; charset=utf-8", &paths.JS},
		{"icon.svg", "image/svg+xml", &paths.Icon},
	} {
		body, err := assets.FS.ReadFile(f.name)
		if err != nil {
			return nil, paths, fmt.Errorf("web: %w", err)
		}
		sum := sha256.Sum256(body)
		stem, ext, _ := strings.Cut(f.name, ".")
		*f.into = "/assets/" + stem + "." + hex.EncodeToString(sum[:6]) + "." + ext
		all = append(all, asset{*f.into, f.kind, body})
	}
	return all, paths, nil
}
