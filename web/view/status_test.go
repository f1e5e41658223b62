package view

import (
	"testing"

	"stallmark/storage/model"
)

// TestPlainSources lists every source that has nothing to say once: by a short
// name, or, if it is a file, where its path has room.
func TestPlainSources(t *testing.T) {
	ok := func(name string) Source { return Source{Name: name, State: model.SourceOK} }
	told := ok("self")
	told.Detail = "late by 2 ms"
	s := Status{Sources: []Source{ok("meminfo"), ok("log /var/log/broker.log"), told, {Name: "hsperf", State: model.SourceAbsent}}}
	if got := s.Plain(); len(got) != 1 || got[0].Name != "meminfo" {
		t.Errorf("short names: %+v", got)
	}
	if got := s.PlainFiles(); len(got) != 1 || got[0].Name != "log /var/log/broker.log" {
		t.Errorf("files: %+v", got)
	}
}
