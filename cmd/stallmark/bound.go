package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

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

// undate says of everything found that nothing told when it was.
func undate(r *model.Report) {
	for i := range r.Findings {
		r.Findings[i].Undated = true
	}
}

// Why a cause is not ruled out though nothing measured speaks for it.
const (
	seenOnce  = "a thread was seen in it, too seldom for a verdict: a listing tells of a moment"
	tooCoarse = "what was read is %v apart, and a stall of seconds disappears in the mean of that time"
)

// coarse is an interval of readings that is longer than what most rules look back.
const coarse = 10 * time.Second

// doubt takes back that a cause is ruled out if a thread was seen in it, or if the
// readings are so far apart that a stall falls between them.
func doubt(r *model.Report, pack *rules.Pack, line *pasted.Timeline) {
	waits := line.Waits()
	reason := func(out model.RuledOut) string {
		sig := pack.Signature(out.Signature)
		switch {
		case sig == nil || sig.Layer != model.LayerCause:
			return ""
		case slices.ContainsFunc(sig.Evidence, func(e rules.EvidenceRule) bool { return overlap(e.Wait, waits) }):
			return seenOnce
		case line.Apart() > coarse:
			return fmt.Sprintf(tooCoarse, line.Apart())
		}
		return ""
	}
	unsure := func(out model.RuledOut) bool { return reason(out) != "" }
	for i := range r.Findings {
		r.Findings[i].RuledOut = slices.DeleteFunc(r.Findings[i].RuledOut, unsure)
	}
	for _, out := range r.RuledOut {
		if why := reason(out); why != "" {
			sig := pack.Signature(out.Signature)
			r.Unknown = append(r.Unknown, model.Unknown{
				Signature: sig.ID, Title: sig.Title, Layer: sig.Layer, Severity: sig.Severity, Why: why + "; " + out.Why,
			})
		}
	}
	r.RuledOut = slices.DeleteFunc(r.RuledOut, unsure)
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}
