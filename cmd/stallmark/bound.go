package main

import (
	"slices"
	"strings"

	"stallmark/collectors/files/pasted"
	"stallmark/collectors/logs"
	"stallmark/rules"
	"stallmark/storage/model"
)

// Why a verdict from texts is less than it would be on the host.
const (
	fromTools  = "from what tools printed, which is somebody's mean of what the kernel counts"
	fromMoment = "from what was so at one moment"
	fromCopies = "from copies of the kernel's files: nobody watched the threads meanwhile"
	fromLogs   = "from logs alone: what the kernel did meanwhile is not known"
)

// bound is the most that texts can prove, and why. What a tool printed makes a
// cause possible, whatever thread somebody saw waiting besides; files of the
// kernel in the order of their times make it likely.
func bound(line *pasted.Timeline, whole *logs.Whole) (model.Confidence, string) {
	switch {
	case line.KernelOverTime():
		return model.Likely, fromCopies
	case len(line.Given) > 0:
		return model.Possible, fromTools
	case whole.Len() > 0 && !line.HasFiles():
		return model.Possible, fromLogs
	}
	return model.Possible, fromMoment
}

// soften lowers what is said on the word of texts to what they can prove.
func soften(r *model.Report, most model.Confidence, why string) {
	for i := range r.Findings {
		f := &r.Findings[i]
		if most != model.Possible && f.Confidence != model.Confirmed {
			continue
		}
		f.Confidence, f.Caveat = most, strings.TrimSuffix(why+"; "+f.Caveat, "; ")
	}
}

// seenOnce is why a cause is not ruled out though nothing measured speaks for it.
const seenOnce = "a thread was seen in it, too seldom for a verdict: a listing tells of a moment"

// doubt takes back that a cause is ruled out if a thread was seen in it.
func doubt(r *model.Report, pack *rules.Pack, waits []string) {
	var unsure []model.RuledOut
	rest := func(list []model.RuledOut) []model.RuledOut {
		return slices.DeleteFunc(list, func(out model.RuledOut) bool {
			sig := pack.Signature(out.Signature)
			seen := sig != nil && slices.ContainsFunc(sig.Evidence, func(e rules.EvidenceRule) bool {
				return slices.ContainsFunc(e.Wait, func(w string) bool { return slices.Contains(waits, w) })
			})
			if seen {
				unsure = append(unsure, out)
			}
			return seen
		})
	}
	for i := range r.Findings {
		r.Findings[i].RuledOut = rest(r.Findings[i].RuledOut)
	}
	unsure = nil
	r.RuledOut = rest(r.RuledOut)
	for _, out := range unsure {
		sig := pack.Signature(out.Signature)
		r.Unknown = append(r.Unknown, model.Unknown{
			Signature: sig.ID, Title: sig.Title, Layer: sig.Layer, Severity: sig.Severity, Why: seenOnce + "; " + out.Why,
		})
	}
}
