package rules

import (
	"context"
	"fmt"

	"stallmark/storage/model"
)

// noBaseline says that a subject has no baseline to be compared with; nothing
// if it has one, or its signature asks for none.
func (t *tracked) noBaseline(ctx context.Context, b *beat) (string, error) {
	hours := -1.0
	for _, rule := range t.sig.Baselines {
		v, err := b.instant(ctx, fmt.Sprintf("%s{%s=%q}", baselineMetric, baselineLabel, rule.Name))
		if err != nil {
			return "", err
		}
		if speaksOf(v, t.subject) {
			return "", nil
		}
		if v, err = b.instant(ctx, fmt.Sprintf("%s{%s=%q}", baselineHoursMetric, baselineLabel, rule.Name)); err != nil {
			return "", err
		}
		if most := furthest(v, t.subject, Above); most != nil {
			hours = max(hours, most.F)
		}
	}
	switch {
	case len(t.sig.Baselines) == 0:
		return "", nil
	case hours < 0:
		return "no baseline yet", nil
	}
	return fmt.Sprintf("no baseline yet (%.0f of %d finding-free hours)", hours, MinBaselineHours), nil
}

// withCaveat is the confidence of a finding that lacks its baseline: possible,
// unless somebody was seen in it.
func withCaveat(c model.Confidence, caveat string) model.Confidence {
	if caveat != "" && c == model.Likely {
		return model.Possible
	}
	return c
}
