package view

import (
	"slices"
	"strings"

	"stallmark/storage/model"
	"stallmark/web/chart"
)

// Status is the page of Stallmark about itself.
type Status struct {
	Page
	Sources []Source
	Own     []Pair
	Store   []Pair
	StoreOK bool
	Bad     []string
	Charts  []chart.Figure
	API     []Endpoint
}

// Telling are the sources that have something to say.
func (s Status) Telling() []Source {
	return slices.DeleteFunc(slices.Clone(s.Sources), plainSource)
}

// Plain are the sources that read all and have nothing to say, but for files.
func (s Status) Plain() []Source {
	return slices.DeleteFunc(slices.Clone(s.Sources), func(src Source) bool { return !plainSource(src) || ofFile(src) })
}

// PlainFiles are those of them that are named by a path, which needs room.
func (s Status) PlainFiles() []Source {
	return slices.DeleteFunc(slices.Clone(s.Sources), func(src Source) bool { return !plainSource(src) || !ofFile(src) })
}

func ofFile(s Source) bool { return strings.Contains(s.Name, "/") }

func plainSource(s Source) bool {
	return s.State == model.SourceOK && s.Detail == "" && s.Mend == ""
}

// Endpoint is a documented path of the JSON.
type Endpoint struct {
	Path, About string
	Link        string
}
