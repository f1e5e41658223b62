package web

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"
	"github.com/go-chi/chi/v5"

	"stallmark/storage/model"
	"stallmark/storage/snapshot"
	"stallmark/web/format"
	"stallmark/web/view"
)

// Bounds of the words that a visitor has replaced.
const (
	maxWords = 100
	maxWord  = 200
)

// choiceOf reads what is to be replaced from a query or a form.
func choiceOf(r *http.Request) (snapshot.Choice, error) {
	c := snapshot.Choice{Paths: r.FormValue("paths") != ""}
	for word := range strings.FieldsFuncSeq(r.FormValue("words"), func(r rune) bool { return r == ',' || r == '\n' || r == '\r' }) {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		if len(word) > maxWord || len(c.Words) >= maxWords {
			return c, badRequest("words: want at most %d, each of at most %d bytes", maxWords, maxWord)
		}
		c.Words = append(c.Words, word)
	}
	return c, nil
}

// redacted makes the redacted twin that a request asks for.
func (s *server) redacted(r *http.Request) (*snapshot.Snapshot, []snapshot.Replaced, snapshot.Choice, error) {
	choice, err := choiceOf(r)
	if err != nil {
		return nil, nil, choice, err
	}
	id := chi.URLParam(r, "id")
	got, err := s.sharing.Folder.Get(id)
	if err != nil {
		return nil, nil, choice, snapshotError(err)
	}
	twin, replaced, err := snapshot.Redact(got, id, choice)
	return twin, replaced, choice, err
}

// maxPreview is how many texts the preview shows at once, unless all are asked for.
const maxPreview = 200

// redact shows what would leave: every text that is replaced and by what, and
// the texts that stay.
func (s *server) redact(r *http.Request, w view.Window) (templ.Component, error) {
	if !s.may(r) {
		return nil, errNotAllowed
	}
	info, err := s.sharing.Folder.Info(chi.URLParam(r, "id"))
	if err != nil {
		return nil, snapshotError(err)
	}
	twin, replaced, choice, err := s.redacted(r)
	if err != nil {
		return nil, err
	}
	page := view.Redact{Page: s.frame(r, w, "Redact"), Row: s.snapshotRow(info, w), Paths: choice.Paths, Words: strings.Join(choice.Words, ", ")}
	for _, one := range replaced {
		page.Replaced = append(page.Replaced, view.Replacement{Kind: one.Kind, From: format.Clean(one.From), To: one.To, Times: one.Times})
	}
	page.Leaving = leaving(twin)
	if len(page.Leaving) > maxPreview && r.FormValue("all") == "" {
		all := url.Values{"all": {"1"}, "words": {page.Words}}
		if page.Paths {
			all.Set("paths", "1")
		}
		page.All = "?" + all.Encode()
		page.More = len(page.Leaving) - maxPreview
		page.Leaving = page.Leaving[:maxPreview]
	}
	return view.RedactPage(page), nil
}

// leaving are the texts of a redacted snapshot that come from the host: its
// title, what its verdict says, its events, settings and the labels of its
// series, each once.
func leaving(s *snapshot.Snapshot) []string {
	seen := map[string]bool{"": true}
	var out []string
	add := func(text string) {
		if text = format.Clean(text); !seen[text] {
			seen[text] = true
			out = append(out, text)
		}
	}
	add("host = " + s.Meta.Host)
	add(s.Meta.Title)
	for _, text := range s.Meta.Cut {
		add(text)
	}
	leavingVerdict(s.Report, add)
	for _, e := range s.Events {
		add(e.Text)
		for _, name := range slices.Sorted(maps.Keys(e.Attrs)) {
			add(name + " = " + e.Attrs[name])
		}
	}
	for _, f := range s.Facts {
		add(f.Key + " = " + f.Value)
	}
	leavingLabels(s, add)
	return out
}

// leavingLabels adds what tells series apart.
func leavingLabels(s *snapshot.Snapshot, add func(string)) {
	var values []string
	label := func(one snapshot.Series) {
		for _, l := range one.Labels {
			if l.Name != nameLabel {
				values = append(values, l.Name+" = "+l.Value)
			}
		}
	}
	for _, one := range s.Samples {
		label(one)
	}
	for _, line := range s.Lines {
		for _, one := range line.Series {
			label(one)
		}
	}
	slices.Sort(values)
	for _, v := range slices.Compact(values) {
		add(v)
	}
}

// leavingVerdict adds the texts of a verdict.
func leavingVerdict(r model.Report, add func(string)) {
	for _, f := range r.Findings {
		add(f.Title)
		add(f.Caveat)
		for _, name := range slices.Sorted(maps.Keys(f.Subject)) {
			add(name + " = " + f.Subject[name])
		}
		for _, e := range f.Evidence {
			add(e.Detail)
		}
		for _, m := range f.Remedy {
			add(m.Current)
			add(m.Apply)
		}
	}
	for _, c := range r.Coverage {
		add(c.Detail)
	}
	for _, one := range r.RuledOut {
		add(one.Why)
	}
	for _, one := range r.Unknown {
		add(one.Why)
		add(one.Mend)
	}
	for _, text := range r.Decide {
		add(text)
	}
	for _, e := range r.Excerpts {
		add(e.File)
		for _, text := range slices.Concat(e.Says, e.Signs, e.Notes) {
			add(text)
		}
	}
}

func (s *server) postRedact(r *http.Request) (string, error) {
	twin, _, _, err := s.redacted(r)
	if err != nil {
		return "", err
	}
	info, err := s.sharing.Folder.Put(twin)
	return "/snapshots/" + info.ID, snapshotError(err)
}
