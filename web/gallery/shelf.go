package gallery

import (
	"context"
	"strings"
	"time"

	"stallmark/storage/snapshot"
	"stallmark/web"
)

// Fill puts twins of a snapshot on a shelf, one of every kind: made by itself and
// not whole, of hostile texts, redacted, with links that are good and that have
// expired.
func Fill(f *snapshot.Folder, of *snapshot.Snapshot) error {
	automatic := *of
	automatic.Meta.By, automatic.Meta.Title = snapshot.Automatic, "Direct reclaim stops the broker's threads"
	automatic.Meta.Cut = []string{"12,400 of 32,400 events, the later ones"}
	evil := *of
	evil.Meta.By, evil.Meta.Title, evil.Meta.Host = Hostile, Hostile, strings.Repeat("broker-of-a-very-long-name-", 6)
	redacted, _, err := snapshot.Redact(of, strings.Repeat("a", 64), snapshot.Choice{})
	if err != nil {
		return err
	}
	for i, one := range []*snapshot.Snapshot{&automatic, &evil, redacted} {
		one.Meta.Created = of.Meta.Created.Add(-time.Duration(i+1) * 7 * time.Hour)
		info, err := f.Put(one)
		if err != nil {
			return err
		}
		if i > 0 {
			continue
		}
		for _, good := range []time.Duration{-time.Hour, 24 * time.Hour} {
			if _, err := f.NewLink(info.ID, "page", good); err != nil {
				return err
			}
		}
	}
	return nil
}

// Today is what rules of another day say of a snapshot.
func Today(context.Context, *snapshot.Snapshot) (web.Today, error) {
	return web.Today{Rules: "builtin 77aa01c2", Same: []string{"dirty-throttling"}, New: []string{"fsync-stall"}, Gone: []string{"rocketmq-broker-busy"}}, nil
}
