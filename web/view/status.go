package view

import (
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

// Endpoint is a documented path of the JSON.
type Endpoint struct {
	Path, About string
	Link        string
}
