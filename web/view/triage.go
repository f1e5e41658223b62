package view

import (
	"strconv"

	"stallmark/storage/model"
	"stallmark/web/format"
)

// Triage is the form for texts.
type Triage struct{ Page }

// Piece is a piece of a text and what it was understood to be.
type Piece struct {
	Where, Format string
	Says, Notes   []string
	Known         bool
}

// maxPieces is how many are shown unfolded.
const maxPieces = 12

// PiecesOf are the pieces of texts, and remarks about all of them.
func PiecesOf(rep model.Report) (pieces []Piece, notes []string) {
	for _, e := range rep.Excerpts {
		if e.File == "" {
			notes = append(notes, cleanAll(e.Notes)...)
			continue
		}
		p := Piece{
			Where: format.Clean(e.File) + ", lines " + strconv.Itoa(e.From) + " to " + strconv.Itoa(e.To), Format: format.Clean(e.Format),
			Says: cleanAll(e.Says), Notes: cleanAll(e.Notes), Known: e.Format != "",
		}
		pieces = append(pieces, p)
	}
	return pieces, notes
}

// SignsOf are what stands out in texts: where, and what.
func SignsOf(rep model.Report) (signs [][2]string) {
	for _, e := range rep.Excerpts {
		for _, s := range e.Signs {
			signs = append(signs, [2]string{format.Clean(e.Format), format.Clean(s)})
		}
	}
	return signs
}

func cleanAll(all []string) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = format.Clean(s)
	}
	return out
}
