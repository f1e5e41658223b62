package rules

import (
	"slices"
	"strings"

	"stallmark/storage/model"
)

// Open returns the findings that are firing, as last given out.
func (e *Engine) Open() []model.Finding {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := []model.Finding{}
	for _, subjects := range e.subjects {
		for _, t := range subjects {
			if t.phase == firing && t.shown.ID != "" {
				out = append(out, t.shown)
			}
		}
	}
	sortFindings(out)
	return out
}

// Pending returns the subjects whose condition holds, but not yet for long
// enough, as findings without evidence.
func (e *Engine) Pending() []model.Finding {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := []model.Finding{}
	for _, subjects := range e.subjects {
		for _, t := range subjects {
			if t.phase == pending {
				out = append(out, t.pendingFinding())
			}
		}
	}
	sortFindings(out)
	return out
}

func (t *tracked) pendingFinding() model.Finding {
	return model.Finding{
		ID: FindingID(t.sig.ID, t.subject, t.since), Signature: t.sig.ID, Title: t.sig.Title,
		Layer: t.sig.Layer, Severity: t.sig.Severity, State: model.StatePending, Confidence: model.Possible,
		Subject: t.subject, Started: t.since, Evidence: []model.Evidence{}, Explains: t.explains(),
		Remedy: []model.Remedy{}, What: t.sig.What,
	}
}

// sortFindings orders by beginning, causes before what they explain.
func sortFindings(fs []model.Finding) {
	slices.SortStableFunc(fs, func(a, b model.Finding) int {
		if c := a.Started.Compare(b.Started); c != 0 {
			return c
		}
		if c := layerRank(a.Layer) - layerRank(b.Layer); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
}
