package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stallmark/storage/model"
)

// labTruth is what was done to a real broker, and what must be said of it.
type labTruth struct {
	recording string // its broker and case
	root      string // of the incident; empty: nothing was done
	with      []string
	bear      []string // further roots that are true: the machine was shared
	group     string   // the consumer group that the root's evidence names
}

// labTruths are recordings of `make lab LABARGS=--record`, with the broker's own log and GC log in them, trimmed to the broker's process.
func labTruths() []labTruth {
	busy := []string{"cpu-saturation"}
	return []labTruth{
		{recording: "rocketmq-5.3.3-quiet", bear: busy},
		{recording: "rocketmq-5.3.3-dirty", root: "dirty-throttling", with: []string{"rocketmq-broker-busy", "safepoint-delay"}, bear: busy},
		{recording: "rocketmq-5.3.3-freeze", root: "process-stopped", bear: busy},
		{recording: "kafka-3.9.1-dirty", root: "dirty-throttling", with: []string{"gc-io-stall"}, bear: busy},
		{recording: "kafka-3.9.1-freeze", root: "process-stopped", with: []string{"kafka-broker-fenced"}, bear: busy},
		{recording: "kafka-3.9.1-lag", root: "catch-up-cold-reads", bear: busy, group: "lab-late"},
		{recording: "rocketmq-5.3.3-memory", root: "memcg-reclaim", with: []string{"rocketmq-broker-busy", "page-cache-thrash"}, bear: busy},
	}
}

// TestLabRecordings replays what real brokers and the kernel said: cause and symptoms are one incident.
func TestLabRecordings(t *testing.T) {
	found, err := filepath.Glob(filepath.Join("testdata", "lab", "*.tar.zst"))
	if err != nil {
		t.Fatal(err)
	}
	if want := len(labTruths()); len(found) != want {
		t.Errorf("%d recordings, %d truths", len(found), want)
	}
	for _, tr := range labTruths() {
		t.Run(tr.recording, func(t *testing.T) {
			t.Parallel()
			r, _ := diagnosed(t, filepath.Join("testdata", "lab", tr.recording+".tar.zst"))
			tr.compare(t, r)
		})
	}
}

func (tr labTruth) compare(t *testing.T, r model.Report) {
	t.Helper()
	byID := map[string]model.Finding{}
	for _, f := range r.Findings {
		byID[f.ID] = f
	}
	said := false
	for _, inc := range r.Incidents {
		var all []string
		for _, id := range inc.Findings {
			all = append(all, byID[id].Signature)
		}
		root := byID[inc.Root].Signature
		switch {
		case root == tr.root:
			said = true
			if !strings.Contains(details(byID[inc.Root]), tr.group) {
				t.Errorf("%s does not name %s", root, tr.group)
			}
			for _, s := range tr.with {
				if !slices.Contains(all, s) {
					t.Errorf("%s is not in the incident of %s: %s", s, root, strings.Join(all, ", "))
				}
			}
		case !slices.Contains(tr.bear, root):
			t.Errorf("said: %s, with %s", root, strings.Join(all, ", "))
		}
	}
	if tr.root != "" && !said {
		t.Errorf("not said: %s", tr.root)
	}
}

// details are what the evidence of a finding names.
func details(f model.Finding) (text string) {
	for _, e := range f.Evidence {
		text += e.Detail + "\n"
	}
	return text
}
