package main

import (
	"errors"
	"os"
	"slices"
	"time"

	"stallmark/collectors"
	"stallmark/collectors/files"
	"stallmark/collectors/files/pasted"
	"stallmark/collectors/logs"
	"stallmark/storage/model"
)

// beside is logs and texts that were given with a recording: their lines and the
// threads that they show waiting are judged at the beats of the recording. Of
// tables a recording has no need: it has what they tell, as the kernel said it.
type beside struct {
	whole *logs.Whole
	texts []pasted.Text
	line  *pasted.Timeline
	notes []string
}

// reach is how long a recording is taken to be at least when the zone of a log is
// looked for: logs are given with it that go on a little.
const reach = time.Hour

// lastTick is the time of the last tick of a recording, zero if it cannot be read.
func lastTick(open func() (*files.Recording, error)) time.Time {
	rec, err := open()
	if err != nil {
		return time.Time{}
	}
	defer rec.Close()
	var last time.Time
	for tick, err := range rec.Ticks() {
		if err != nil {
			break
		}
		last = tick.At
	}
	return last
}

// newBeside sorts out what was given with a recording that begins at some time, for
// one replay. end is asked when it ends if that matters.
func (p *program) newBeside(o *options, b *files.Bundle, begin time.Time, end func() time.Time) *beside {
	if b == nil || len(b.Blobs) == 0 {
		return nil
	}
	x := &beside{notes: b.Notes}
	x.whole, x.texts = p.sortOut(o, b)
	x.line = pasted.NewTimeline(x.texts, p.now())
	to := begin.Add(reach)
	if x.whole.Len() > 0 {
		if last := end(); last.After(to) {
			to = last
		}
	}
	x.whole.Beside(begin, to)
	x.whole.Beats() // which learns what the times of the logs mean
	return x
}

// namedSource is a source under another name.
type namedSource struct {
	collectors.Source
	name string
}

// Name implements [collectors.Source].
func (s namedSource) Name() string { return s.name }

// sources are what a recording's beats ask too.
func (x *beside) sources() []collectors.Source {
	if x == nil {
		return nil
	}
	list := []collectors.Source{pasted.NewBeside(x.line)}
	if x.whole.Len() > 0 {
		list = append(list, namedSource{x.whole.Source(), "logs beside it"})
	}
	return list
}

// begin passes over what was written before the recording.
func (x *beside) begin(at time.Time) {
	if x != nil {
		x.whole.Skip(at)
	}
}

// joined reports whether all that was given is judged with the recording: logs
// with lines of its time, and nothing else.
func (x *beside) joined() bool {
	return x != nil && len(x.whole.Fed()) > 0 && len(x.line.Given) == 0 && !x.line.HasFiles()
}

// excerpts say what was taken together with the recording, and what was not.
func (x *beside) excerpts() []model.Excerpt {
	if x == nil {
		return nil
	}
	list := logExcerpts(x.whole)
	for i := range list {
		if list[i].File == "" {
			continue
		}
		note := "no line of it is of the recording's time: it says nothing about that"
		if slices.Contains(x.whole.Fed(), list[i].File) {
			note = "judged together with the recording, by the times of its lines"
		}
		list[i].Notes = append(list[i].Notes, note)
	}
	for _, e := range excerptsOf(x.texts, x.notes) {
		if e.Format != "" {
			e.Notes = append(e.Notes, "beside a recording only threads that wait are taken from it: the recording has the rest")
		}
		list = append(list, e)
	}
	return list
}

// gatherTexts gathers what is neither a recording nor a snapshot, if there are
// several paths, and tells which these were. Pipes are left to their turn: they
// can be read once.
func (p *program) gatherTexts(b *files.Bundle, paths []string) (names []string, failed error) {
	if len(paths) < 2 {
		return nil, nil
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || claimsSnapshot(path) || !info.Mode().IsRegular() && !info.IsDir() {
			continue
		}
		rec, err := files.Open(path, files.DefaultLimits())
		if err == nil {
			err = rec.Close()
		}
		if !errors.Is(err, files.ErrNotRecording) {
			continue
		}
		if _, err := readSnapshot(path); err == nil {
			continue
		}
		names = append(names, path)
		failed = errors.Join(failed, p.gather(b, path))
	}
	return names, failed
}
