package rules

import (
	"slices"

	"stallmark/storage/model"
)

// ConfidenceOf computes how sure a finding is from its evidence: confirmed with
// a witness; likely if every confirmation that could be measured holds and at
// least one could; possible otherwise. A contradiction that holds takes one
// step off.
func ConfidenceOf(evidence []model.Evidence) model.Confidence {
	var witness, contradicted bool
	var confirms, fails int
	for _, e := range evidence {
		holds := e.State == model.EvidenceHolds
		switch e.Role {
		case model.RoleWitness:
			witness = witness || holds
		case model.RoleContradicts:
			contradicted = contradicted || holds
		case model.RoleConfirms:
			if holds {
				confirms++
			}
			if e.State == model.EvidenceFails {
				fails++
			}
		}
	}
	levels := confidences()
	level := 0
	switch {
	case witness:
		level = 2
	case confirms > 0 && fails == 0:
		level = 1
	}
	if contradicted {
		level = max(level-1, 0)
	}
	return levels[level]
}

// confidences are in rising order.
func confidences() []model.Confidence {
	return []model.Confidence{model.Possible, model.Likely, model.Confirmed}
}

// surer is the higher of two confidences; the empty one is lowest.
func surer(a, b model.Confidence) model.Confidence {
	if slices.Index(confidences(), a) > slices.Index(confidences(), b) {
		return a
	}
	return b
}
