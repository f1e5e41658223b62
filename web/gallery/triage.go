package gallery

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"stallmark/storage/model"
	"stallmark/storage/snapshot"
	"stallmark/web"
)

// pastes is a host whose page is given texts.
func pastes() Scene {
	s := possible()
	s.About = "texts: what the triage page says of them"
	return s
}

// Given serves h and, at /given/NAME, what it answers to that being given to the
// triage page: "possible", "many", "nothing", "large" and, again and again, "busy".
func Given(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, given := strings.CutPrefix(r.URL.Path, "/given/")
		if !given {
			h.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, giving(r, name))
		for i := 0; name == "busy" && answer.Code != http.StatusTooManyRequests && i < 100; i++ {
			answer = httptest.NewRecorder()
			h.ServeHTTP(answer, giving(r, name))
		}
		if to := answer.Header().Get("Location"); to != "" {
			get := httptest.NewRequestWithContext(r.Context(), http.MethodGet, to, nil)
			get.Host = r.Host
			h.ServeHTTP(w, get)
			return
		}
		w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
		w.WriteHeader(answer.Code)
		_, _ = io.Copy(w, answer.Body)
	})
}

// giving is the page's form with one file, sent as by who asks with r.
func giving(r *http.Request, name string) *http.Request {
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	file, _ := m.CreateFormFile("files", name) // a buffer takes all
	size := 1
	if name == "large" {
		size = 65 << 20
	}
	_, _ = file.Write(make([]byte, size))
	_ = m.Close()
	post := httptest.NewRequestWithContext(r.Context(), http.MethodPost, "/triage", &b)
	post.Host = r.Host
	post.Header.Set("Content-Type", m.FormDataContentType())
	return post
}

// Triage is for web.Config: a verdict that the name of the first text decides.
func (b *Backend) Triage(ctx context.Context, uploads []web.Upload) (*snapshot.Snapshot, error) {
	if uploads[0].Name == "nothing" {
		return nil, fmt.Errorf("%w: want a recording, or output of vmstat, iostat, sar, free or top, files of /proc, stacks, kernel messages, or logs of brokers and JVMs", web.ErrNothingKnown)
	}
	f, err := web.NewFreezer(web.Config{Backend: b, Host: "texts", Version: "v0.1.0", Now: b.Now},
		func(context.Context, time.Time, time.Time) ([]snapshot.Series, error) { return nil, nil })
	if err != nil {
		return nil, err
	}
	to := b.Now().Truncate(time.Second)
	s, err := f.Freeze(ctx, web.Order{From: to.Add(-5 * time.Minute), To: to, By: "triage"})
	if err != nil {
		return nil, err
	}
	s.Report.Excerpts = excerpts()
	if uploads[0].Name == "many" {
		s.Report.Excerpts = manyExcerpts()
	}
	s.Report.Decide = []string{
		"stallmark record -o stall.tar.zst --for 60s",
		"for i in $(seq 60); do date -u +%FT%TZ; grep -H . /proc/vmstat /proc/meminfo /proc/diskstats /proc/pressure/memory; sleep 1; done > stall.txt",
	}
	return s, nil
}

// excerpts are the pieces of one paste.
func excerpts() []model.Excerpt {
	return []model.Excerpt{
		{File: "pasted text", From: 1, To: 3},
		{
			File: "pasted text", From: 5, To: 31, Format: "sar -B", Says: []string{"24 rows, 1s apart", "direct reclaim up to 21,430 pages/s, kswapd up to 5,737 pages/s"},
			Signs: []string{"line 12: 8.2 tasks wait at a time for a disk or for a lock whose holder does; which, vmstat does not tell. Run: iostat -x 1 60"},
			Notes: []string{"line 31: the mean of all rows is left out"},
		},
		{File: "pasted text", From: 33, To: 35, Format: "free", Says: []string{"readings of memory: 1; what is used, not what waits for it"}},
		{Notes: []string{"pasted text: free, lines 33 to 35: no times; taken to end at 2026-03-01T03:14:49Z"}},
	}
}

// manyExcerpts are an archive of many files, some with hostile or long names.
func manyExcerpts() []model.Excerpt {
	all := excerpts()
	for i := range 60 {
		e := model.Excerpt{File: fmt.Sprintf("sosreport.tar.xz/broker-07/sos_commands/process/%02d", i), From: 1, To: 40 + i}
		switch i % 3 {
		case 0:
			e.Format, e.Says = "vmstat", []string{fmt.Sprintf("%d rows", 38+i)}
		case 1:
			e.Format, e.Says = "kernel log", []string{"2 tasks blocked for more than 120 s"}
			e.Notes = []string{"line 7: want a time, have \"[ 12.34\"; the line is left out"}
		}
		all = append(all, e)
	}
	return append(all,
		model.Excerpt{File: "<script>alert(1)</script>\x1b[31m.log", From: 1, To: 1, Format: "rocketmq log", Says: []string{"<b>1 line</b>"}, Signs: []string{"<i>kswapd0</i>\x1b[31m uses 98 % of a CPU"}},
		model.Excerpt{Notes: []string{"sosreport.tar.xz: 3 files over 32 MiB are left out"}})
}
