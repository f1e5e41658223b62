package storage

import (
	"slices"
	"time"

	"stallmark/storage/model"
)

// recentNotes are the notes that are not in the file yet, oldest first.
type recentNotes struct{ notes []note }

// add takes an encoded note. One that cannot be read keeps its place.
func (r *recentNotes) add(b []byte) {
	n, err := decodeNote(b)
	if err != nil {
		n = note{}
	}
	r.notes = append(r.notes, n)
}

// drop forgets the n oldest.
func (r *recentNotes) drop(n int) { r.notes = slices.Clone(r.notes[min(n, len(r.notes)):]) }

// recent copies the notes that are not in the file yet. It must be called
// before the file is read, so that what is stored meanwhile is not missed; then
// it is in both.
func (r *recorder) recent() []note {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.notes.notes)
}

// events answers with events that overlap [From, To] and start before Before.
func (r *recorder) events(q question) ([]model.Event, error) {
	notes := r.recent()
	stored, err := r.disk.eventsIn(q.From, q.To, q.Before, q.Kinds)
	if err != nil {
		return nil, err
	}
	var recent eventLog
	for _, n := range notes {
		if n.Event != nil && n.Event.From.Before(q.Before) {
			recent.put(*n.Event)
		}
	}
	return mergeEvents(stored, recent.in(q.From, q.To, q.Kinds)), nil
}

// facts answers with the facts as they were at a time.
func (r *recorder) facts(at time.Time) ([]model.Fact, error) {
	notes := r.recent()
	out, err := r.disk.factsAt(at)
	for _, n := range notes {
		if n.Fact != nil && !n.Fact.At.After(at) {
			out = append(out, *n.Fact) // later ones count
		}
	}
	return out, err
}

// coverage answers with the state of the sources as it was at a time.
func (r *recorder) coverage(at time.Time) ([]coverageNote, error) {
	notes := r.recent()
	out, err := r.disk.coverageAt(at)
	for _, n := range notes {
		if n.Coverage != nil && !n.Coverage.At.After(at) {
			out = append(out, *n.Coverage)
		}
	}
	return out, err
}

// findings answers with the findings that overlap [From, To].
func (r *recorder) findings(q question) ([]model.Finding, error) {
	notes := r.recent()
	stored, err := r.disk.findingsIn(q.From, q.To, q.Limit)
	if err != nil {
		return nil, err
	}
	var set findingSet
	for _, f := range stored {
		set.put(f)
	}
	for _, n := range notes {
		if n.Finding != nil {
			set.put(*n.Finding)
		}
	}
	return set.in(q.From, q.To), nil
}

// finding answers with one finding.
func (r *recorder) finding(id string) (findingAnswer, error) {
	notes := r.recent()
	for _, n := range slices.Backward(notes) {
		if n.Finding != nil && n.Finding.ID == id {
			return findingAnswer{true, *n.Finding}, nil
		}
	}
	f, ok, err := r.disk.finding(id)
	return findingAnswer{ok, f}, err
}
