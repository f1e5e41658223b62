package main

import (
	"fmt"
	"slices"
	"strings"

	"stallmark/storage/model"
)

// excerpts writes what was read and what it was taken for. The name of a single
// text is written once.
func (t *textReport) excerpts() {
	list := t.report.Excerpts
	if len(list) == 0 {
		return
	}
	name := onlyFile(list)
	title := "What was read"
	if name != "" {
		title += " of " + oneLine(name)
	}
	t.section(title)
	for _, e := range list {
		where := fmt.Sprintf("%s, lines %d to %d", oneLine(e.File), e.From, e.To)
		if name != "" {
			where = fmt.Sprintf("lines %d to %d", e.From, e.To)
		}
		switch {
		case e.File == "":
			note := strings.Join(e.Notes, "; ")
			if name != "" {
				note = strings.TrimPrefix(note, name+": ")
			}
			t.row("note", note)
		case e.Format == "":
			t.row("not known", where)
		default:
			t.row(e.Format, strings.Join(append(append([]string{where}, e.Says...), e.Notes...), "; "))
		}
	}
}

// onlyFile is the name of the text if all pieces are of one.
func onlyFile(list []model.Excerpt) string {
	name := ""
	for _, e := range list {
		if e.File == "" || e.File == name {
			continue
		}
		if name != "" {
			return ""
		}
		name = e.File
	}
	return name
}

// fewRows is how many rows of what could not be judged are written without being
// asked for: more would push the verdict off the screen.
const fewRows = 4

// foldUnknown writes in one row what many rows would say.
func (t *textReport) foldUnknown() {
	var ids, lacking []string
	for _, u := range t.report.Unknown {
		ids = append(ids, u.Signature)
	}
	for _, c := range t.report.Coverage {
		if c.State == model.SourceAbsent && !slices.Contains(lacking, c.Source) {
			lacking = append(lacking, c.Source)
		}
	}
	text := strings.Join(ids, ", ")
	if len(lacking) > 0 {
		text += "; absent are " + strings.Join(lacking, ", ")
	}
	t.row(fmt.Sprintf("%d signatures", len(ids)), text+". --verbose says of each why")
}
