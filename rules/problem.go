package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one mistake in a signature file, or a note about it. Line and
// Column start at 1; 0 means the file or folder as a whole.
type Problem struct {
	File    string
	Line    int
	Column  int
	Message string
	Note    bool // nothing is lost by it: the file is used
}

// String is file:line:col: message, as compilers have it.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	b.WriteString(": ")
	if p.Note {
		b.WriteString("note: ")
	}
	b.WriteString(p.Message)
	return b.String()
}

// Mistakes is the problems without the notes.
func Mistakes(problems []Problem) []Problem {
	return slices.DeleteFunc(slices.Clone(problems), func(p Problem) bool { return p.Note })
}

func sortProblems(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
