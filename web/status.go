package web

import (
	"net/http"
	"strconv"

	"github.com/a-h/templ"

	"stallmark/storage/model"
	"stallmark/web/format"
	"stallmark/web/view"
)

// statusData is the status in the JSON.
type statusData struct {
	Version  string           `json:"version"`
	Host     string           `json:"host"`
	Health   view.Health      `json:"health"`
	Coverage []model.Coverage `json:"coverage"`
}

func (s *server) statusJSON(r *http.Request, w view.Window) (any, error) {
	coverage, err := s.cfg.Backend.CoverageAt(r.Context(), w.To)
	return statusData{s.cfg.Version, s.cfg.Host, s.cfg.Backend.Health(r.Context()), append([]model.Coverage{}, coverage...)}, err
}

func (s *server) status(r *http.Request, w view.Window) (templ.Component, error) {
	ctx := r.Context()
	coverage, err := s.cfg.Backend.CoverageAt(ctx, w.To)
	if err != nil {
		return nil, err
	}
	page := view.Status{Page: s.live(s.frame(r, w, "Status")), Sources: view.NewSources(coverage)}
	page.Timed, page.Twin = true, "/api/v1/status"+w.Query()
	took, err := s.cfg.Backend.Instant(ctx, "stallmark_source_duration_seconds", w.To)
	if err != nil {
		return nil, err
	}
	for i, src := range page.Sources {
		for _, sample := range took {
			if format.Clean(sample.Metric.Get("source")) == src.Name {
				page.Sources[i].Took = format.Value(sample.F, "seconds")
			}
		}
	}
	h := s.cfg.Backend.Health(ctx)
	page.StoreOK, page.Store, page.Bad = h.Storage.Up || h.Storage.Path == "", storePairs(h.Storage), cleaned(h.Storage.BadBlocks)
	page.Own = s.ownPairs(r, h)
	b, err := s.plainBackdrop(ctx, w, coverage)
	if err != nil {
		return nil, err
	}
	for i, p := range ownPanels() {
		page.Charts = append(page.Charts, s.draw(ctx, "own-"+strconv.Itoa(i+1), p, b))
	}
	for _, e := range s.endpoints() {
		page.API = append(page.API, view.Endpoint{Path: e[0], About: e[1], Link: e[0] + w.Query()})
	}
	return view.StatusPage(page), nil
}

// ownPanels are the charts about the recorder.
func ownPanels() []panel {
	return []panel{
		{title: "Sampler lateness", unit: "seconds", note: "How late each beat came.", lines: []line{{expr: `stallmark_sampler_lateness_seconds`}}},
		{title: "Beats lost", unit: "count", note: "Since the start; a beat that was missed is not made up for.", lines: []line{{expr: `stallmark_sampler_beats_lost_total`}}},
		{title: "CPU time", unit: "percent", note: "Of one CPU, by each of the two processes.", lines: []line{{expr: `100 * rate(stallmark_self_cpu_seconds_total[10s])`, label: "process"}}},
		{title: "Resident memory", unit: "bytes", note: "Pages of the program count in both processes.", lines: []line{{expr: `stallmark_self_resident_memory_bytes`, label: "process"}}},
		{title: "Written to disk", unit: "bytes/s", lines: []line{{expr: `rate(stallmark_self_written_bytes_total[1m])`, label: "process"}}},
		{title: "Slowest sources", unit: "seconds", lines: []line{{expr: `topk(5, stallmark_source_duration_seconds)`, label: "source"}}},
	}
}

func (s *server) ownPairs(r *http.Request, h view.Health) []view.Pair {
	oldest, newest := s.cfg.Backend.Extent(r.Context())
	pairs := []view.Pair{{Name: "Version", Value: s.cfg.Version}}
	if !h.Started.IsZero() {
		pairs = append(pairs, view.Pair{Name: "Running since", Value: format.Stamp(h.Started) + " UTC"})
	}
	pairs = append(pairs, view.Pair{Name: "Interval", Value: format.Span(s.cfg.Interval)})
	if !newest.IsZero() {
		pairs = append(pairs,
			view.Pair{Name: "Oldest sample", Value: format.Stamp(oldest) + " UTC"},
			view.Pair{Name: "Newest sample", Value: format.Stamp(newest) + " UTC"})
	}
	return append(pairs, view.Pair{Name: "Rule pack", Value: format.Clean(h.RulesVersion)})
}

// storePairs lists what is known of the store; what it does not tell is left
// out.
func storePairs(st view.Storage) []view.Pair {
	if st.Path == "" {
		return []view.Pair{{Name: "File", Value: "none: all is in memory and ends with this process"}}
	}
	state := "answers"
	if !st.Up {
		state = "does not answer"
	}
	pairs := []view.Pair{{Name: "File", Value: format.Clean(st.Path)}, {Name: "State", Value: state}}
	add := func(known bool, name, value string) {
		if known {
			pairs = append(pairs, view.Pair{Name: name, Value: value})
		}
	}
	add(st.Bytes > 0, "Size", format.Value(float64(st.Bytes), "bytes"))
	add(st.MaxBytes > 0, "Bound", format.Value(float64(st.MaxBytes), "bytes"))
	add(st.Blocks > 0, "Blocks", strconv.Itoa(st.Blocks))
	add(st.LastWrite > 0, "Last write took", format.Value(st.LastWrite.Seconds(), "seconds"))
	add(true, "Beats not stored", strconv.FormatInt(st.LostBeats, 10))
	add(st.Detail != "", "Detail", format.Clean(st.Detail))
	for _, m := range st.More {
		add(true, format.Clean(m.Name), format.Clean(m.Value))
	}
	return pairs
}

func cleaned(all []string) []string {
	out := make([]string, len(all))
	for i, t := range all {
		out[i] = format.Clean(t)
	}
	return out
}

// endpoints documents the JSON.
func (s *server) endpoints() [][2]string {
	return [][2]string{
		{"/api/v1/report", "the verdict of a window: findings, incidents, ruled_out, unknown, coverage; as diagnose --json prints it"},
		{"/api/v1/incidents", "the incidents of a window with their findings, the worst first; /api/v1/incidents/{id} is the one of a finding"},
		{"/api/v1/findings", "the findings of a window, the newest first; /api/v1/findings/{id} is one of them"},
		{"/api/v1/disks", "every block device with rates and latencies; null where nothing was measured"},
		{"/api/v1/pagecache", "what is in memory of each data file of the brokers"},
		{"/api/v1/logs", "matched lines of logs with those around them, and the warnings that no pattern knows; filters: pattern, product, source, process, proof, q, page"},
		{"/api/v1/jvm", "the pauses of each watched JVM, the longest first; null where its log does not tell"},
		{"/api/v1/signatures", "the catalogue with the state of each; /api/v1/signatures/{id} is one of them"},
		{"/api/v1/audit", "settings against advice; as audit --json prints it"},
		{"/api/v1/status", "sources, store and recorder"},
		{"/metrics", "the newest value of every series, and the findings that fire, for Prometheus: OpenMetrics or its text format"},
	}
}
