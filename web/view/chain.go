package view

import (
	"fmt"
	"slices"
	"strings"

	"stallmark/storage/model"
	"stallmark/web/chart"
	"stallmark/web/format"
)

// chain lists the root and what follows from it, by layer, each signature once.
func chain(all []model.Finding, w Window) []Step {
	order := []model.Layer{model.LayerCause, model.LayerMechanism, model.LayerSymptom}
	rest := slices.Clone(all[1:])
	slices.SortStableFunc(rest, func(a, b model.Finding) int {
		return slices.Index(order, a.Layer) - slices.Index(order, b.Layer)
	})
	var steps []Step
	seen := map[string]bool{}
	for _, f := range append([]model.Finding{all[0]}, rest...) {
		if !seen[f.Signature] {
			seen[f.Signature] = true
			title := format.Clean(f.Title)
			if len(steps) == 0 { // the banner's heading is its title already
				title = format.Clean(f.Signature)
			}
			value, of := headline(f)
			layer := f.Layer
			if len(steps) > 0 && layer == model.LayerCause {
				layer = model.LayerMechanism // what a root explains is how it travels
			}
			steps = append(steps, Step{layer, title, value, of, w.Link("findings", f.ID)})
		}
	}
	return steps
}

// headline is the measured value that says most: the first evidence that holds.
func headline(f model.Finding) (value, of string) {
	for _, e := range f.Evidence {
		if e.Value == nil || e.State != model.EvidenceHolds {
			continue
		}
		value = format.Value(*e.Value, e.Unit)
		if e.Threshold != nil && *e.Threshold != 0 {
			value += " against " + format.Value(*e.Threshold, e.Unit)
		}
		return value, chart.ShortTitle(format.Clean(e.Title))
	}
	return "", ""
}

// because says what makes the confidence: the witness, or what is missing.
func because(f model.Finding) string {
	var measured, holding, against int
	for _, e := range f.Evidence {
		if e.Role == model.RoleWitness && e.State == model.EvidenceHolds && f.Confidence == model.Confirmed {
			return "Witness: " + format.Clean(firstLine(e.Detail, e.Title))
		}
		if e.Role == model.RoleConfirms && e.State != model.EvidenceUnmeasured {
			measured++
			if e.State == model.EvidenceHolds {
				holding++
			}
		}
		if e.Role == model.RoleContradicts && e.State == model.EvidenceHolds {
			against++
		}
	}
	text := fmt.Sprintf("%d of %s hold, no direct witness seen", holding, count(measured, "measured confirmation", "measured confirmations"))
	if measured == 0 {
		text = "the condition alone: no confirmation could be measured"
	}
	if against > 0 {
		text += ", " + count(against, "value speaks", "values speak") + " against it"
	}
	return text
}

func firstLine(texts ...string) string {
	for _, t := range texts {
		if line, _, _ := strings.Cut(strings.TrimSpace(t), "\n"); line != "" {
			return line
		}
	}
	return ""
}

// ChainOf is the chain of the incident that a finding belongs to, nil if it
// stands alone.
func ChainOf(id string, r model.Report, w Window) []Step {
	for _, i := range r.Incidents {
		if all := findingsOf(i, r); len(all) > 1 && slices.ContainsFunc(all, func(f model.Finding) bool { return f.ID == id }) {
			return chain(all, w)
		}
	}
	return nil
}
