package web

import (
	"bytes"
	"io"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"stallmark/storage/snapshot"
)

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

// htmlFile sends a snapshot as one file.
func (s *server) htmlFile(rw http.ResponseWriter, r *http.Request) {
	info, err := s.sharing.Folder.Info(chi.URLParam(r, "id"))
	if err != nil {
		s.fail(rw, r, snapshotError(err))
		return
	}
	var b bytes.Buffer
	if err := ExportOf(r.Context(), &b, s.sharing.Folder, info.ID); err != nil {
		s.fail(rw, r, snapshotError(err))
		return
	}
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	rw.Header().Set("Content-Disposition", `attachment; filename="`+fileName(info)+`.html"`)
	_, _ = rw.Write(b.Bytes()) // the visitor has left; there is nobody to tell
}
