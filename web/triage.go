package web

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5"

	"stallmark/storage/snapshot"
	"stallmark/web/view"
)

// Upload is a text that somebody gave: pasted, or a file.
type Upload struct {
	Name string
	Data []byte
}

// Triage judges texts. The snapshot holds the verdict with what each piece was
// understood to be; an error of kind [ErrNothingKnown] says that there is none.
type Triage func(ctx context.Context, uploads []Upload) (*snapshot.Snapshot, error)

// ErrNothingKnown is wrapped by what a Triage returns when it understood nothing.
var ErrNothingKnown = errors.New("nothing in it is known")

// Bounds of triage: nothing of it is kept on a disk.
const (
	maxUploads = 200
	maxTriages = 6
	triageFor  = time.Hour
	triageTime = 60 * time.Second
)

// triages keeps the last verdicts about texts, under names that cannot be
// guessed.
type triages struct {
	mu   sync.Mutex
	byID map[string]triaged
}

type triaged struct {
	snapshot *snapshot.Snapshot
	at       time.Time
}

// keep stores a verdict and drops what is old or too much.
func (t *triages) keep(s *snapshot.Snapshot, now time.Time) string {
	var random [16]byte
	rand.Read(random[:]) //nolint:errcheck // never fails (crypto/rand, Go 1.24)
	id := hex.EncodeToString(random[:])
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID == nil {
		t.byID = map[string]triaged{}
	}
	oldest := ""
	for id, one := range t.byID {
		if now.Sub(one.at) > triageFor {
			delete(t.byID, id)
		} else if oldest == "" || one.at.Before(t.byID[oldest].at) {
			oldest = id
		}
	}
	if len(t.byID) >= maxTriages {
		delete(t.byID, oldest)
	}
	t.byID[id] = triaged{s, now}
	return id
}

func (t *triages) get(id string, now time.Time) *snapshot.Snapshot {
	t.mu.Lock()
	defer t.mu.Unlock()
	one, ok := t.byID[id]
	if !ok || now.Sub(one.at) > triageFor {
		return nil
	}
	return one.snapshot
}

// triageForm shows where texts are pasted and files dropped.
func (s *server) triageForm(r *http.Request, w view.Window) (templ.Component, error) {
	return view.TriagePage(view.Triage{Page: s.frame(r, w, "Triage")}), nil
}

// postTriage judges what was given and leads to the verdict.
func (s *server) postTriage(rw http.ResponseWriter, r *http.Request) {
	if !s.triaging.allow() {
		s.fail(rw, r, &failure{status: http.StatusTooManyRequests, message: "Too many at once. Try again in some seconds.", texts: true})
		return
	}
	select { // what is given is held in memory whole
	case s.triageSeat <- struct{}{}:
		defer func() { <-s.triageSeat }()
	default:
		s.fail(rw, r, &failure{status: http.StatusTooManyRequests, message: "Another text is being judged. Try again in some seconds.", texts: true})
		return
	}
	uploads, err := uploadsOf(r)
	if err != nil {
		s.fail(rw, r, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), triageTime)
	defer cancel()
	got, err := s.cfg.Triage(ctx, uploads)
	if errors.Is(err, ErrNothingKnown) {
		err = &failure{status: http.StatusUnprocessableEntity, message: capital(err.Error()) + ".", cause: err, title: "Nothing was understood", texts: true}
	}
	if err != nil {
		s.fail(rw, r, err)
		return
	}
	http.Redirect(rw, r, "/triage/"+s.triages.keep(got, s.cfg.Now()), http.StatusSeeOther)
}

// uploadsOf takes the text and the files of a form.
func uploadsOf(r *http.Request) ([]Upload, error) {
	form, err := r.MultipartReader()
	if err != nil {
		return nil, badRequest("Paste a text or choose files.")
	}
	var out []Upload
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, tooLarge(err)
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return nil, tooLarge(err)
		}
		name := part.FileName()
		if part.FormName() == "text" {
			name = "pasted text"
		}
		if len(data) == 0 || name == "" {
			continue
		}
		if len(out) == maxUploads {
			return nil, badRequest("More than %d files. Put them into one archive.", maxUploads)
		}
		out = append(out, Upload{strings.ToValidUTF8(name, ""), data})
	}
	if len(out) == 0 {
		return nil, badRequest("Paste a text or choose files.")
	}
	return out, nil
}

// tooLarge says what a body over the bound means.
func tooLarge(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &failure{status: http.StatusRequestEntityTooLarge, message: "That is more than 64 MiB. Give the part around the stall, or use \"stallmark diagnose\" on the files.", cause: err, title: "Too much", texts: true}
	}
	return badRequest("The upload was cut off.")
}

// triageResult shows a verdict about texts.
func (s *server) triageResult(rw http.ResponseWriter, r *http.Request) {
	id := chi.URLParam(r, "id")
	got := s.triages.get(id, s.cfg.Now())
	if got == nil {
		s.fail(rw, r, notFound("This verdict is no longer kept: texts are forgotten after an hour. Paste them again."))
		return
	}
	h, err := ShowSnapshot(got, Sight{Base: "/triage/" + id, Texts: true, Logger: s.cfg.Logger})
	if err != nil {
		s.fail(rw, r, err)
		return
	}
	below(h, rw, r)
}
