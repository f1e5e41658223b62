package web

import (
	"cmp"

	"stallmark/rules"
	"stallmark/storage/model"
	"stallmark/web/view"
)

// signatureData is a signature in the JSON: as its file has it, and how it
// stands. Durations are in seconds.
type signatureData struct {
	ID            string            `json:"id"`
	Title         string            `json:"title"`
	Layer         model.Layer       `json:"layer"`
	Severity      model.Severity    `json:"severity"`
	State         string            `json:"state"` // firing, fired, pending, quiet or unknown
	Why           string            `json:"why,omitempty"`
	Mend          string            `json:"mend,omitempty"`
	What          string            `json:"what"`
	Needs         []string          `json:"needs"`
	When          string            `json:"when"`
	Extent        string            `json:"extent,omitempty"`
	For           float64           `json:"for_seconds"`
	KeepFiringFor float64           `json:"keep_firing_for_seconds"`
	Evidence      []signatureProof  `json:"evidence"`
	Explains      []string          `json:"explains"`
	Independent   string            `json:"independent,omitempty"`
	Differential  []string          `json:"differential"`
	Remedy        []signatureRemedy `json:"remedy"`
	References    []string          `json:"references"`
	Proven        string            `json:"proven,omitempty"`
	File          string            `json:"file"`
	BuiltIn       bool              `json:"built_in"`
}

type signatureProof struct {
	Title     string     `json:"title"`
	Expr      string     `json:"expr"`
	Unit      string     `json:"unit"`
	Op        rules.Op   `json:"op"`
	Threshold any        `json:"threshold"` // a number, PromQL, or null
	Role      model.Role `json:"role"`
	Wait      []string   `json:"wait,omitempty"`
}

type signatureRemedy struct {
	Title string           `json:"title"`
	Kind  model.RemedyKind `json:"kind"`
	Why   string           `json:"why,omitempty"`
	Apply string           `json:"apply,omitempty"` // a template
	Risk  string           `json:"risk,omitempty"`
}

func dataOf(sig *rules.Signature, states map[string]view.State) signatureData {
	st := states[sig.ID]
	d := signatureData{
		ID: sig.ID, Title: sig.Title, Layer: sig.Layer, Severity: sig.Severity,
		State: cmp.Or(st.Word, "unknown"), Why: st.Why, Mend: st.Mend,
		What: sig.What, Needs: list(sig.Needs), When: sig.When, Extent: sig.Extent,
		For: sig.For.Seconds(), KeepFiringFor: sig.KeepFiringFor.Seconds(),
		Evidence: []signatureProof{}, Remedy: []signatureRemedy{},
		Explains: list(sig.Explains), Independent: sig.Independent, Differential: list(sig.Differential), References: list(sig.References),
		Proven: sig.Proven.String(), File: sig.File, BuiltIn: sig.BuiltIn,
	}
	for _, e := range sig.Evidence {
		p := signatureProof{e.Title, e.Expr, e.Unit, cmp.Or(e.Op, rules.Above), nil, e.Role, e.Wait}
		switch {
		case e.Threshold.Number != nil:
			p.Threshold = *e.Threshold.Number
		case e.Threshold.Expr != "":
			p.Threshold = e.Threshold.Expr
		}
		d.Evidence = append(d.Evidence, p)
	}
	for _, r := range sig.Remedy {
		d.Remedy = append(d.Remedy, signatureRemedy{r.Title, r.Kind, r.Why, r.Apply, r.Risk})
	}
	return d
}

// list is never null in the JSON.
func list(all []string) []string {
	if all == nil {
		return []string{}
	}
	return all
}
