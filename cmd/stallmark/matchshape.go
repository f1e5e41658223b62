package main

import (
	"cmp"
	"slices"
	"strings"

	"stallmark/collectors/logs/match"
)

// unmatchedShape is warnings and errors of one shape that no pattern recognises.
type unmatchedShape struct {
	Count int64  `json:"count"`
	Level string `json:"level"`
	Shape string `json:"shape"`
	File  string `json:"file"` // of the first
	Line  int64  `json:"line"`
	Text  string `json:"text"`
}

// maxShapes bounds the table; what comes when it is full is counted as one.
const maxShapes = 10000

const otherShapes = "(others: too many to tell apart)"

// shapeTable counts them.
type shapeTable struct{ byShape map[string]*unmatchedShape }

func newShapeTable() *shapeTable { return &shapeTable{map[string]*unmatchedShape{}} }

func (t *shapeTable) add(shape string, level match.Level, file string, line int64, text []byte) {
	shape = printable([]byte(shape))
	if t.byShape[shape] == nil && len(t.byShape) >= maxShapes {
		shape = otherShapes
	}
	u := t.byShape[shape]
	if u == nil {
		u = &unmatchedShape{Level: level.String(), Shape: shape, File: file, Line: line, Text: printable(text)}
		t.byShape[shape] = u
	}
	u.Count++
}

// ranked is the shapes, the most frequent first.
func (t *shapeTable) ranked() []*unmatchedShape {
	list := []*unmatchedShape{}
	for _, u := range t.byShape {
		list = append(list, u)
	}
	slices.SortFunc(list, func(a, b *unmatchedShape) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Shape, b.Shape))
	})
	return list
}
