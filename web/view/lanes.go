package view

import (
	"slices"

	"stallmark/rules"
	"stallmark/storage/model"
	"stallmark/web/chart"
	"stallmark/web/format"
)

// Lanes makes a row of every signature: those that fired by their first start,
// then the unknown ones, then the quiet ones; causes before the rest. Logs are, by
// signature, the patterns whose lines are its evidence.
func Lanes(sigs []*rules.Signature, r model.Report, events []model.Event, logs map[string]PatternTest, w Window) []chart.Lane {
	states := StatesOf(sigs, r)
	rows := map[string]*chart.Lane{}
	var order []string
	add := func(id string, layer model.Layer) *chart.Lane {
		if rows[id] == nil {
			rows[id] = &chart.Lane{Name: format.Clean(id), Layer: string(layer), Link: w.Link("signatures", id), State: "quiet"}
			order = append(order, id)
		}
		return rows[id]
	}
	for _, s := range sigs {
		st := states[s.ID]
		if st.Class == "not-here" {
			continue
		}
		row := add(s.ID, s.Layer)
		if st.Word == "unknown" {
			row.State, row.Why = "unknown", st.Why
		}
		row.Ticks = ticksOf(s, events, logs[s.ID])
	}
	for _, f := range r.Findings {
		row := add(f.Signature, f.Layer)
		row.Bars = append(row.Bars, barOf(f, w))
		if row.State != "firing" {
			row.State = "fired"
		}
		if f.Ended == nil {
			row.State = "firing"
		}
	}
	out := make([]chart.Lane, len(order))
	for i, id := range order {
		out[i] = *rows[id]
	}
	slices.SortStableFunc(out, func(a, b chart.Lane) int {
		if ra, rb := laneRank(a), laneRank(b); ra != rb {
			return ra - rb
		}
		if len(a.Bars) > 0 && len(b.Bars) > 0 {
			return layerRank(a.Layer) - layerRank(b.Layer)
		}
		return 0
	})
	return out
}

// Fired counts the rows that fired; they come first.
func Fired(rows []chart.Lane) int {
	n := 0
	for _, r := range rows {
		if len(r.Bars) > 0 {
			n++
		}
	}
	return n
}

func laneRank(l chart.Lane) int {
	switch {
	case len(l.Bars) > 0:
		return 0
	case l.State == "unknown":
		return 1
	}
	return 2
}

func layerRank(layer string) int {
	return slices.Index([]string{"cause", "mechanism", "symptom"}, layer)
}

func barOf(f model.Finding, w Window) chart.Bar {
	to := w.To
	text := format.Clean(f.Title) + ", " + string(f.Confidence)
	if f.Ended == nil {
		text += ", since " + format.Clock(f.Started)
	} else {
		to = *f.Ended
		text += ", " + format.Clock(f.Started) + " to " + format.Clock(to)
	}
	return chart.Bar{From: f.Started, To: to, Class: severityClass(f.Severity), Title: text}
}

// ticksOf are the moments of events that bear witness for a signature: threads
// seen in one of the waits that it names, and lines of its patterns.
func ticksOf(s *rules.Signature, events []model.Event, logs PatternTest) []chart.Tick {
	var out []chart.Tick
	for _, e := range events {
		if logs != nil && e.Kind == model.EventLog && logs(e.Attrs["pattern"]) {
			out = append(out, LogTick(e))
		}
		if e.Kind != model.EventBlocked {
			continue
		}
		for _, ev := range s.Evidence {
			if slices.Contains(ev.Wait, e.Attrs["wait"]) {
				out = append(out, chart.Tick{At: e.From, Text: format.Clean(e.Text), Count: e.Count})
				break
			}
		}
	}
	return out
}
