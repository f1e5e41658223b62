package main

import (
	"strings"
	"testing"

	"stallmark/collectors/logs"
)

func TestLogOption(t *testing.T) {
	for text, want := range map[string]logs.Target{
		"/var/log/a.log":                              {Folder: "/var/log", Names: []string{"a.log"}, Kind: logs.KindText},
		"/var/log/*/a,b*.log":                         {Folder: "/var/log/*", Names: []string{"a,b*.log"}, Kind: logs.KindText},
		"/x/gc.log,kind=gc":                           {Folder: "/x", Names: []string{"gc.log"}, Kind: logs.KindGC},
		"/x/y,zone=+05:30,format=json-file,kind=text": {Folder: "/x", Names: []string{"y"}, Kind: logs.KindText, Zone: "+05:30", Format: logs.FormatJSONFile},
	} {
		got, err := parseLogOption(text)
		if err != nil || got.Folder != want.Folder || got.Names[0] != want.Names[0] || got.Kind != want.Kind || got.Zone != want.Zone || got.Format != want.Format {
			t.Errorf("%s: got %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"a.log": "absolute", "/var/log/": "absolute", "/a,zone=Nowhere/City": "zone", "/a,format=xml": "format", "/a,kind=x": "kind", "/a[": "syntax",
	} {
		if _, err := parseLogOption(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want something about %s", text, err, want)
		}
	}
}
