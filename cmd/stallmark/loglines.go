package main

import (
	"stallmark/storage/model"
	"stallmark/web"
)

// followedLogs shows the page what is known of log lines. The follower is made after
// the page, and before anybody may ask.
type followedLogs struct{ service *service }

// Patterns implements web.Logs.
func (l followedLogs) Patterns() []model.LogPattern { return l.service.judging.Load().lines }

// Unknown implements web.Logs.
func (l followedLogs) Unknown() []web.UnknownLine {
	shapes := l.service.machine.logs.source.Unknown()
	out := make([]web.UnknownLine, len(shapes))
	for i, s := range shapes {
		out[i] = web.UnknownLine{
			Shape: s.Text, Level: s.Level, Example: s.Example, Source: s.Source, Process: s.Process,
			Count: s.Count, First: s.First.UTC(), Last: s.Last.UTC(),
		}
	}
	return out
}
