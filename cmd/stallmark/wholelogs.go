package main

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"stallmark/collectors"
	"stallmark/collectors/files"
	"stallmark/collectors/files/pasted"
	"stallmark/collectors/logs"
	"stallmark/collectors/logs/match"
	"stallmark/collectors/logs/stamp"
	"stallmark/rules/patterns"
	"stallmark/storage/model"
)

// otherLines is added to the name of a GC log for the lines of others in it.
const otherLines = ", lines of other logs"

// sortOut gives the logs among the files to what reads logs, and takes the others
// apart; of those, the lines that are no tool's output may be of a log too.
func (p *program) sortOut(o *options, b *files.Bundle) (*logs.Whole, []pasted.Text) {
	cfg := p.lineKinds(o.rules)
	cfg.Boot = o.told.boot
	whole := logs.NewWhole(cfg)
	whole.ZoneOf = func(name string) *time.Location { return o.told.zoneOf(strings.TrimSuffix(name, otherLines)) }
	var texts []pasted.Text
	for i, blob := range b.Blobs {
		if j := copiedIn(b.Blobs, i); j >= 0 && logs.IsLog(blob.Data) {
			b.Notes = append(b.Notes, fmt.Sprintf("%s: all of it is in %s too: left out", blob.Name, b.Blobs[j].Name))
			continue
		}
		if whole.Add(blob.Name, blob.Data, blob.Changed) {
			if whole.HoldsGC() { // a log of the broker may be pasted below
				whole.AddLines(blob.Name+otherLines, blob.Data, blob.Changed)
			}
			if reports := kernelReports(blob, pasted.Options{Zone: o.told.zoneOf(blob.Name), Boot: o.told.boot}); len(reports.Parts) > 0 {
				texts = append(texts, reports)
			}
			continue
		}
		text := pasted.Read(blob.Name, blob.Data, pasted.Options{Zone: o.told.zoneOf(blob.Name), Boot: o.told.boot})
		if whole.AddLines(blob.Name, text.Log(), blob.Changed) {
			text.Left = slices.DeleteFunc(text.Left, stamped) // the log's
		}
		texts = append(texts, text)
	}
	return whole, texts
}

// stamped reports whether a line of a run has a time: then it is a log's.
func stamped(run pasted.Left) bool {
	return slices.ContainsFunc(run.Text, func(line string) bool {
		_, ok := stamp.Find([]byte(line))
		return ok
	})
}

// copiedIn is another file that begins with all that is in the i-th, of equals the
// one that was given first; -1 if there is none. What is given twice counts twice.
func copiedIn(blobs []files.Blob, i int) int {
	data := blobs[i].Data
	return slices.IndexFunc(blobs, func(o files.Blob) bool {
		if len(o.Data) < len(data) || len(data) == 0 || !bytes.HasPrefix(o.Data, data) {
			return false
		}
		return len(o.Data) > len(data) || &o.Data[0] != &data[0] && first(blobs, data) < i
	})
}

// first is the first file that holds just these bytes.
func first(blobs []files.Blob, data []byte) int {
	return slices.IndexFunc(blobs, func(b files.Blob) bool { return bytes.Equal(b.Data, data) })
}

// kernelReports are the reports of several lines in a log of the kernel, with their
// stacks and figures, which the patterns for lines do not read.
func kernelReports(blob files.Blob, how pasted.Options) pasted.Text {
	if !bytes.Contains(blob.Data, []byte("blocked for more than")) && !bytes.Contains(blob.Data, []byte("Mem-Info:")) {
		return pasted.Text{}
	}
	text := pasted.Read(blob.Name, blob.Data, how)
	text.Parts = slices.DeleteFunc(text.Parts, func(p *pasted.Part) bool { return !p.Logged })
	text.Left = nil // the log has it
	return text
}

// siftLines picks the lines that point at a stall, each with the line before it if
// it has no time of its own.
func siftLines(dirs []string) func([]byte) []byte {
	load := sync.OnceValue(func() *match.Set {
		pack, _ := patterns.Load(dirs...) // mistakes are said by who reads the lines
		set, _ := match.New(pack.Patterns)
		return set
	})
	var hit match.Hit
	return func(lines []byte) (kept []byte) {
		set := load()
		for from := 0; set != nil && set.Next(lines, from, &hit); from = hit.End + 1 {
			if p := hit.Pattern.Proof; p != model.ProofDirect && p != model.ProofHint {
				continue
			}
			start := hit.Start
			if _, ok := stamp.Find(lines[start:hit.End]); !ok && start > from {
				start = bytes.LastIndexByte(lines[:start-1], '\n') + 1
			}
			kept = append(append(kept, lines[start:hit.End]...), '\n')
		}
		return kept
	}
}

// moment is one beat of texts and logs together.
type moment struct {
	at   time.Time
	root collectors.Root
}

// together yields the beats of both axes in order, those of the texts only if
// there are any. Where only a log has one, the files of /proc are as they were
// last. A root is good until the next beat.
func together(line *pasted.Timeline, texts bool, logBeats []time.Time) iter.Seq[moment] {
	return func(yield func(moment) bool) {
		last := moment{root: &collectors.MapRoot{}}
		before := func(at time.Time) bool {
			for len(logBeats) > 0 && logBeats[0].Before(at) {
				if m := (moment{logBeats[0], last.root}); m.at.After(last.at.Add(nearly)) && !yield(m) {
					return false
				}
				logBeats = logBeats[1:]
			}
			return true
		}
		if texts {
			for beat := range line.Beats {
				m := moment{beat.At.Truncate(time.Millisecond), beat.Root}
				if !before(m.at.Add(-nearly)) || !yield(m) {
					return
				}
				last = m
				for len(logBeats) > 0 && !logBeats[0].After(m.at.Add(nearly)) {
					logBeats = logBeats[1:]
				}
			}
		}
		before(time.Unix(1<<40, 0))
	}
}

// nearly is how near two beats are that count as one.
const nearly = 500 * time.Millisecond

// logExcerpts says of each log what it was taken for.
func logExcerpts(whole *logs.Whole) []model.Excerpt {
	var list []model.Excerpt
	for _, l := range whole.Logs() {
		list = append(list, model.Excerpt{File: l.Name, From: l.From, To: l.Lines, Format: l.What, Says: l.Says})
	}
	for _, n := range whole.Notes {
		list = append(list, model.Excerpt{Notes: []string{n}})
	}
	return list
}
