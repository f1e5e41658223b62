package rules

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// Proof says by what a signature is known to be right, besides the synthetic
// series of its tests.
type Proof struct {
	Recordings []string // of a real kernel, on which it is replayed
	Drills     []string // that provoked it on a live machine
	Synthetic  string   // why there is neither, or what of it is proven by synthetic series only
}

// Word is the strongest proof: "recording", "drill", "synthetic", or empty for
// a file that says nothing.
func (p Proof) Word() string {
	switch {
	case len(p.Recordings) > 0:
		return "recording"
	case len(p.Drills) > 0:
		return "drill"
	case p.Synthetic != "":
		return "synthetic"
	}
	return ""
}

// String says it in a line.
func (p Proof) String() string {
	var parts []string
	if len(p.Recordings) > 0 {
		parts = append(parts, "proven on recordings of a real kernel: "+strings.Join(p.Recordings, ", "))
	}
	if len(p.Drills) > 0 {
		parts = append(parts, "proven by live drill: "+strings.Join(p.Drills, ", "))
	}
	switch {
	case p.Synthetic != "" && len(parts) == 0:
		parts = append(parts, "synthetic only: "+p.Synthetic)
	case p.Synthetic != "":
		parts = append(parts, "synthetic: "+p.Synthetic)
	}
	return strings.Join(parts, "; ")
}

func (r *reader) proof(n *yaml.Node) Proof {
	var p Proof
	r.mapping(n, map[string]func(*yaml.Node){
		"recordings": func(n *yaml.Node) { p.Recordings = r.texts(n) },
		"drills":     func(n *yaml.Node) { p.Drills = r.texts(n) },
		"synthetic":  func(n *yaml.Node) { p.Synthetic = r.text(n) },
	})
	return p
}
