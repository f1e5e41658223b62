package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stallmark/storage/model"
)

// TestManyPosts diagnoses posts of many kinds. For each there is what must be found
// (never more than possible), what must stand out, and what must not be said.
func TestManyPosts(t *testing.T) {
	for _, tt := range []struct {
		name  string
		code  int
		found []string // exactly these causes and symptoms
		signs []string // parts of what stands out
		notes []string // parts of what was left out or assumed
		ended bool     // within the text, which goes on after it
	}{
		{"iostat-zh.txt", exitFound, []string{"disk-saturation"}, nil, []string{"mean since boot and is left out"}, false},
		{"dmesg-jbd2.txt", exitFound, []string{"kernel-hung-task"}, []string{"it is the journal of vdb1", "waiting for the file system's journal"}, nil, true},
		{
			"top-swap.txt", exitUnknown, nil,
			[]string{"swap is full", "294 of 32012 MiB of memory are available", "kswapd0 uses 99 % of a CPU", "2 in uninterruptible sleep (D): 2 java"},
			nil, false,
		},
		{"sar-zh.txt", exitFound, []string{"direct-reclaim"}, nil, nil, false},
		{"osw-vmstat.txt", exitFound, []string{"swap-in-stall"}, []string{"tasks wait at a time"}, []string{"of each of 10 starts is the mean since boot", "10 samples of 2s"}, true},
		{"kafka-gc.txt", exitFound, []string{"gc-io-stall", "kafka-isr-shrink"}, nil, nil, true},
		{"store-only.txt", exitFound, []string{"rocketmq-append-stall", "rocketmq-pagecachert-tail"}, nil, nil, true},
		{
			"vmstat-file-untimed.txt", exitFound,
			[]string{"direct-reclaim"},
			[]string{"allocstall by 601", "majflt by 100", "java is in uninterruptible sleep"},
			[]string{"2 copies of /proc/vmstat without times"},
			false,
		},
		{"pod.txt", exitFound, []string{"memcg-reclaim"}, []string{"8190 of the 8192 MiB of memory.high", "memory.events high by 3600"}, nil, false},
		{
			"mail-quoted.txt", exitFound,
			[]string{"dirty-throttling"},
			[]string{"dirty pages stand at 100 % of the point", "was seen paused at the dirty-page limit"},
			nil, false,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := triaged(t, tt.code, filepath.Join("testdata", "posts", tt.name))
			var found []string
			for _, f := range r.Findings {
				if !slices.Contains(found, f.Signature) {
					found = append(found, f.Signature)
				}
				if f.Confidence != model.Possible {
					t.Errorf("%s is %s on the word of a post", f.Signature, f.Confidence)
				}
				if tt.ended != (f.Ended != nil) {
					t.Errorf("%s ended %v", f.Signature, f.Ended)
				}
			}
			slices.Sort(found)
			if !slices.Equal(found, tt.found) {
				t.Errorf("found %v, want %v", found, tt.found)
			}
			var signs, notes []string
			for _, e := range r.Excerpts {
				signs, notes = append(signs, e.Signs...), append(notes, e.Notes...)
			}
			wantParts(t, "stands out", signs, tt.signs)
			wantParts(t, "is remarked", notes, tt.notes)
			if len(r.Decide) == 0 {
				t.Error("nothing is said to decide it")
			}
		})
	}
}

// wantParts wants each part in one of the texts.
func wantParts(t *testing.T, what string, texts, parts []string) {
	t.Helper()
	for _, part := range parts {
		if !slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, part) }) {
			t.Errorf("nothing with %q %s in %q", part, what, texts)
		}
	}
}
