package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"stallmark/collectors"
	"stallmark/collectors/files"
	"stallmark/collectors/files/pasted"
	"stallmark/collectors/logs"
	"stallmark/rules"
	"stallmark/storage/model"
	"stallmark/web"
)

// gather puts a file or the files of a folder into a bundle. Symbolic links in
// a folder are passed over.
func (p *program) gather(b *files.Bundle, name string) error {
	if name == "-" {
		b.Add("standard input", p.stdin)
		return nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return gatherFile(b, name, func() (io.ReadCloser, error) { return os.Open(name) })
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(inner string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		return gatherFile(b, filepath.Join(name, inner), func() (io.ReadCloser, error) { return root.Open(inner) })
	})
}

func gatherFile(b *files.Bundle, name string, open func() (io.ReadCloser, error)) error {
	f, err := open()
	if err != nil {
		return err
	}
	defer f.Close()
	var changed time.Time
	if s, ok := f.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := s.Stat(); err == nil && info.Mode().IsRegular() {
			changed = info.ModTime()
		}
	}
	b.AddFile(name, f, changed)
	return nil
}

// triage judges texts: everything that was given together, on one axis of time.
func (p *program) triage(ctx context.Context, o *options, pack *rules.Pack, what string, b *files.Bundle) (diagnosis, error) {
	a, report, err := p.judgeTexts(ctx, o, pack, b)
	if a == nil {
		return diagnosis{}, fmt.Errorf("%s: %w", what, err)
	}
	return a.shown(ctx, p, o, diagnosis{what: what, report: report}, what, err)
}

// judgeTexts runs texts through the rules. The report says of every piece what
// it was understood to be. Errors wrap web.ErrNothingKnown if nothing was.
func (p *program) judgeTexts(ctx context.Context, o *options, pack *rules.Pack, b *files.Bundle) (*analysis, model.Report, error) {
	if len(b.Blobs) == 0 {
		return nil, model.Report{}, fmt.Errorf("%w: it is empty%s", web.ErrNothingKnown, firstNote(b.Notes))
	}
	whole, texts := p.sortOut(o, b)
	logBeats := whole.Beats()
	taken := p.now()
	if at := logs.Latest(logBeats); !at.IsZero() {
		taken = at // who gives a table without times beside a log means the same hour
	}
	line := pasted.NewTimeline(texts, taken)
	known := slices.ContainsFunc(texts, func(t pasted.Text) bool { return len(t.Parts) > 0 })
	if !known && whole.Len() == 0 {
		return nil, model.Report{}, fmt.Errorf("%w: want a recording, or output of vmstat, iostat, sar, free or top, files of /proc, "+
			"stacks, kernel messages, or logs of brokers and JVMs%s", web.ErrNothingKnown, firstNote(slices.Concat(b.Notes, notesOf(texts))))
	}
	if !known {
		line.Interval = time.Second
	}
	if !known && len(logBeats) == 0 {
		return nil, model.Report{}, fmt.Errorf("%w: no line in it has a time", web.ErrNothingKnown)
	}
	a := newAnalysis(pack, line.Interval)
	if err := a.runTexts(ctx, line, whole, together(line, known, logBeats)); err != nil {
		return nil, model.Report{}, err
	}
	report, err := a.report(ctx)
	most, why := bound(line, whole)
	soften(&report, most, why)
	addGrown(&report, pack, pasted.Grown(texts), a.last)
	doubt(&report, pack, line)
	if !line.Dated() && len(logBeats) == 0 {
		undate(&report)
	}
	report.Excerpts = append(logExcerpts(whole), excerptsOf(texts, append(slices.Clone(b.Notes), line.Notes...))...)
	report.Decide = decide(report, pack, line, whole.Logs())
	report.Coverage = slices.DeleteFunc(report.Coverage, func(c model.Coverage) bool { return pastedOnly(c, line) })
	return a, report, err
}

// pastedOnly reports whether a source has nothing to say about texts: one that
// reads files of /proc which were not pasted. What is missing the timeline says.
func pastedOnly(c model.Coverage, line *pasted.Timeline) bool {
	if c.State == model.SourceOK || c.State == model.SourcePartial {
		return false
	}
	return !slices.ContainsFunc(pasted.Missing(line), func(s collectors.Source) bool { return s.Name() == c.Source })
}

// notesOf are the remarks about whole texts.
func notesOf(texts []pasted.Text) (notes []string) {
	for _, t := range texts {
		notes = append(notes, t.Notes...)
	}
	return notes
}

func firstNote(notes []string) string {
	if len(notes) == 0 {
		return ""
	}
	return ": " + notes[0]
}

// runTexts takes the beats of a timeline. Sources that read files of /proc run
// only if some were pasted: otherwise they would say of everything that it is
// absent from this host.
func (a *analysis) runTexts(ctx context.Context, line *pasted.Timeline, whole *logs.Whole, beats iter.Seq[moment]) error {
	sources := append(pasted.Missing(line), pasted.NewSource(line))
	if line.HasFiles() {
		m := recordedMachine(files.Meta{PageSize: os.Getpagesize(), ClockTicks: defaultTicks}, nil)
		sources = append(m.sources(), sources...)
	}
	if whole.Len() > 0 {
		sources = append(sources, whole.Source())
	}
	sampler, err := collectors.New(collectors.Config{Sources: sources, Sink: a.store, Interval: line.Interval})
	if err != nil {
		return err
	}
	for m := range beats {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		sampler.SetRoot(m.root)
		sampler.Collect(ctx, m.at)
		if err := a.step(ctx, m.at); err != nil {
			return err
		}
	}
	return nil
}

// excerptsOf says of every piece what it was understood to be.
func excerptsOf(texts []pasted.Text, notes []string) []model.Excerpt {
	var list []model.Excerpt
	for _, t := range texts {
		for _, part := range t.Parts {
			e := model.Excerpt{File: t.Name, From: part.From, To: part.To, Format: part.Format, Says: part.Says}
			e.Signs, e.Notes = remarks(part.Signs), remarks(part.Notes)
			list = append(list, e)
		}
		for _, n := range t.Notes {
			list = append(list, model.Excerpt{Notes: []string{n}})
		}
		for _, left := range t.Left {
			list = append(list, model.Excerpt{File: t.Name, From: left.From, To: left.To})
		}
	}
	slices.SortStableFunc(list, func(a, b model.Excerpt) int {
		if a.File != b.File {
			return 0
		}
		return a.From - b.From
	})
	for _, n := range notes {
		list = append(list, model.Excerpt{Notes: []string{n}})
	}
	return list
}

// remarks are notes with the numbers of their lines.
func remarks(notes []pasted.Note) []string {
	var list []string
	for _, n := range notes {
		text := n.Text
		if n.Line > 0 {
			text = fmt.Sprintf("line %d: %s", n.Line, text)
		}
		list = append(list, text)
	}
	return list
}

// signs writes what stands out in the texts, which is no verdict.
func (t *textReport) signs() {
	first := true
	for _, e := range t.report.Excerpts {
		for _, sign := range e.Signs {
			if first {
				t.section("What stands out")
				first = false
			}
			t.row(e.Format, sign)
		}
	}
}

// decide writes the commands that would tell more.
func (t *textReport) decide() {
	if len(t.report.Decide) == 0 {
		return
	}
	t.section("What would decide it")
	t.paragraph("  ", "Run one of these on the host while it stalls, and diagnose what it wrote:")
	for _, c := range t.report.Decide {
		t.command("run", c)
	}
}
