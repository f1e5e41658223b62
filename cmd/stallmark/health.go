package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"stallmark/rules"
	"stallmark/storage"
	"stallmark/web"
	"stallmark/web/view"
)

// standstill is how long a disk may take nothing before that is said. Beats are
// confirmed one by one; only the minute's sync of a slow disk takes seconds.
const standstill = 10 * time.Second

// storageHealth puts the store's own words into the page's.
func storageHealth(st storage.Status, maxBytes int64) web.Storage {
	h := web.Storage{
		Path: st.Path, Up: st.ChildUp && st.Waiting < standstill, Detail: storageDetail(st), Bytes: st.FileBytes + st.JournalBytes, MaxBytes: maxBytes,
		Blocks: st.Blocks + st.Rollups, LastWrite: st.StoreTook, LostBeats: int64(st.LostBeats),
		More: []view.Pair{
			{Name: "In memory", Value: fmt.Sprintf("%s, %d series", rules.Format(float64(st.HeadBytes), "bytes"), st.HeadSeries)},
			{Name: "Free on the file system", Value: rules.Format(float64(st.FreeBytes), "bytes")},
			{Name: "Not confirmed yet", Value: fmt.Sprintf("%d beats and notes", st.Unconfirmed)},
			{Name: "Lost events, facts and findings", Value: fmt.Sprint(st.LostNotes)},
			{Name: "Restarts of the storing process", Value: fmt.Sprint(st.Restarts)},
		},
	}
	if !st.Oldest.IsZero() {
		h.More = append(h.More, view.Pair{Name: "Oldest block", Value: st.Oldest.UTC().Format(time.RFC3339)})
	}
	for _, block := range slices.Sorted(maps.Keys(st.BadBlocks)) {
		h.BadBlocks = append(h.BadBlocks, block+": "+st.BadBlocks[block])
	}
	return h
}

// storageDetail is everything that is wrong with the store, in words.
func storageDetail(st storage.Status) string {
	var wrong []string
	if st.ChildError != "" {
		wrong = append(wrong, st.ChildError)
	}
	if st.Waiting >= standstill {
		wrong = append(wrong, fmt.Sprintf("the disk has taken nothing for %v: what is newer is in memory only", st.Waiting.Round(time.Second)))
	}
	if st.WriteError != "" {
		wrong = append(wrong, "the last write failed: "+st.WriteError)
	}
	if st.Full {
		wrong = append(wrong, "the file has stopped growing: the file system is nearly full")
	}
	if st.MovedAside != "" {
		wrong = append(wrong, "a damaged file was moved aside: "+st.MovedAside)
	}
	return strings.Join(wrong, "; ")
}
