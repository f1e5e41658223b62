package web

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	common "github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"

	"stallmark/storage/model"
	"stallmark/web/format"
)

// The two forms of the exposition: OpenMetrics 1.0.0, and the text format of
// Prometheus 0.0.4 for those who do not ask for the former by name.
const (
	openMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"
	plainText   = "text/plain; version=0.0.4; charset=utf-8"
)

// findingMetric is 1 for each finding that fires. An alert on it is the verdict
// itself, where `rules export` gives the conditions.
const findingMetric = "stallmark_finding_firing"

// metrics serves the newest value of every series, for a Prometheus that scrapes.
func (s *server) metrics(rw http.ResponseWriter, r *http.Request) {
	now := s.cfg.Now()
	all, err := s.cfg.Backend.Instant(r.Context(), `{__name__=~".+"}`, now)
	if err == nil {
		all, err = s.withFindings(r.Context(), all, now)
	}
	if err != nil {
		s.fail(rw, r, err)
		return
	}
	rw.Header().Set("Vary", "Accept")
	if strings.Contains(r.Header.Get("Accept"), "application/openmetrics-text") {
		send(rw, r, openMetrics, exposition(all, true))
		return
	}
	send(rw, r, plainText, exposition(all, false))
}

// withFindings adds a sample for each finding that fires now.
func (s *server) withFindings(ctx context.Context, all promql.Vector, now time.Time) (promql.Vector, error) {
	found, err := s.cfg.Backend.FindingsIn(ctx, now.Add(-s.cfg.Interval), now)
	for _, f := range found {
		if f.State != model.StateFiring {
			continue
		}
		set := labels.NewBuilder(labels.FromMap(f.Subject))
		set.Set(nameLabel, findingMetric).Set("signature", f.Signature).Set("id", f.ID).
			Set("severity", string(f.Severity)).Set("confidence", string(f.Confidence))
		all = append(all, promql.Sample{Metric: set.Labels(), F: 1})
	}
	return all, err
}

// exposition writes samples by name, each name with its type, as both forms want.
func exposition(all promql.Vector, open bool) []byte {
	name := func(s promql.Sample) string { return s.Metric.Get(nameLabel) }
	slices.SortFunc(all, func(a, b promql.Sample) int {
		return cmp.Or(strings.Compare(name(a), name(b)), labels.Compare(a.Metric, b.Metric))
	})
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	var out bytes.Buffer
	before := ""
	for _, one := range all {
		if n := name(one); n != before {
			before = n
			family, kind := n, "gauge"
			if base, counter := strings.CutSuffix(n, "_total"); counter {
				kind = "counter"
				if open {
					family = base
				}
			}
			fmt.Fprintf(&out, "# TYPE %s %s\n", family, kind)
		}
		out.WriteString(before)
		writeLabels(&out, one.Metric, escape)
		out.WriteString(" " + strconv.FormatFloat(one.F, 'g', -1, 64) + "\n")
	}
	if open {
		out.WriteString("# EOF\n")
	}
	return out.Bytes()
}

// writeLabels writes all labels but the name. Their values come from devices,
// processes and topics: they are cleaned, and escaped as both forms have it. What
// is no label name, as a subject's might be, is left out.
func writeLabels(out *bytes.Buffer, set labels.Labels, escape *strings.Replacer) {
	sep := "{"
	set.Range(func(l labels.Label) {
		if l.Name != nameLabel && common.LegacyValidation.IsValidLabelName(l.Name) {
			out.WriteString(sep + l.Name + `="` + escape.Replace(format.Clean(l.Value)) + `"`)
			sep = ","
		}
	})
	if sep == "," {
		out.WriteByte('}')
	}
}
