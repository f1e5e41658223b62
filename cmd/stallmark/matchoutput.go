package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// matchOutput prints what was recognised, as it comes.
type matchOutput interface {
	row(*matchRow) error
	end(unmatched []*unmatchedShape, counts map[string]int64) error
}

// matchText is for people.
type matchText struct {
	w    *bufio.Writer
	zone string
}

const maxUnmatchedShown = 50

func (t *matchText) row(r *matchRow) error {
	if r.Zone != t.zone && r.Zone != "" {
		t.zone = r.Zone
		fmt.Fprintf(t.w, "# %s: times in %s\n", oneLine(r.File), oneLine(r.Zone))
	}
	when := "(" + r.Note + ")"
	if r.From != nil {
		when = *r.From
		if *r.To != *r.From {
			when += ".." + *r.To
		}
	}
	var fields strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r.Fields)) {
		fmt.Fprintf(&fields, " %s=%s", name, r.Fields[name])
	}
	_, err := fmt.Fprintf(t.w, "%s:%d: %s %s %s%s\n", oneLine(r.File), r.Line, oneLine(when), r.Proof, r.Pattern, oneLine(fields.String()))
	return err
}

func (t *matchText) end(unmatched []*unmatchedShape, counts map[string]int64) error {
	w := t.w
	fmt.Fprintf(w, "\nRecognised:\n")
	ids := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		if counts[a] != counts[b] {
			return int(counts[b] - counts[a])
		}
		return strings.Compare(a, b)
	})
	for _, id := range ids {
		fmt.Fprintf(w, "%8d  %s\n", counts[id], id)
	}
	if len(ids) == 0 {
		fmt.Fprintln(w, "  nothing")
	}
	fmt.Fprintf(w, "\nWarnings and errors that no pattern recognises:\n")
	for _, u := range unmatched[:min(len(unmatched), maxUnmatchedShown)] {
		fmt.Fprintf(w, "%8d  %s  (%s:%d)\n", u.Count, oneLine(u.Shape), oneLine(u.File), u.Line)
	}
	switch more := len(unmatched) - maxUnmatchedShown; {
	case len(unmatched) == 0:
		fmt.Fprintln(w, "  none")
	case more > 0:
		fmt.Fprintf(w, "  and %d more kinds: --json prints all\n", more)
	}
	return w.Flush()
}

// matchJSON prints one object, without holding it in memory.
type matchJSON struct {
	w    *bufio.Writer
	rows int
}

func newMatchJSON(p *program) *matchJSON { return &matchJSON{w: bufio.NewWriter(p.stdout)} }

func (j *matchJSON) row(r *matchRow) error {
	lead := ",\n"
	if j.rows++; j.rows == 1 {
		lead = "{\"matches\":[\n"
	}
	j.w.WriteString(lead)
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = j.w.Write(data)
	return err
}

func (j *matchJSON) end(unmatched []*unmatchedShape, counts map[string]int64) error {
	if j.rows == 0 {
		j.w.WriteString("{\"matches\":[")
	}
	if counts == nil {
		counts = map[string]int64{}
	}
	rest, err := json.Marshal(struct {
		Unmatched []*unmatchedShape `json:"unmatched"`
		Patterns  map[string]int64  `json:"patterns"`
	}{unmatched, counts})
	if err != nil {
		return err
	}
	fmt.Fprintf(j.w, "],\n%s\n", rest[1:])
	return j.w.Flush()
}
