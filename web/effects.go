package web

import (
	"context"

	"stallmark/rules"
	"stallmark/storage/model"
	"stallmark/web/view"
)

// withEffects adds to changed settings what rules.Effects measured before and
// after them. What could not be measured leaves the change alone: it is a fact
// without it.
func (s *server) withEffects(ctx context.Context, changes []view.Change, f model.Finding, events []model.Event) []view.Change {
	effects, err := rules.Effects(ctx, s.cfg.Backend, f, events, s.cfg.Now().UTC(), s.cfg.Interval)
	if err != nil {
		s.cfg.Logger.Warn("effects of changed settings", "finding", f.ID, "error", err)
	}
	for i := range changes {
		for _, e := range effects {
			if e.At.Equal(changes[i].At) {
				changes[i].Effects = view.EffectsOf(e.Measures)
			}
		}
	}
	return changes
}
