package patterns

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"stallmark/rules"
	"stallmark/storage/model"
)

//go:embed *.yaml
var builtIn embed.FS

// Pack is the patterns that were read together, in the order of their files.
type Pack struct {
	Patterns []model.LogPattern

	samples []sample
}

// Load reads the built-in patterns and those in the folder "patterns" of the
// given rule folders, where there is one. A file with a mistake is left out
// whole; the others are used.
func Load(dirs ...string) (*Pack, []rules.Problem) {
	l := &loader{pack: &Pack{}, byID: map[string]string{}}
	l.folder(builtIn, "patterns")
	for _, d := range dirs {
		d = path.Join(d, "patterns")
		if _, err := os.Stat(d); !errors.Is(err, fs.ErrNotExist) {
			l.folder(os.DirFS(d), d)
		}
	}
	return l.pack, l.problems
}

// loader gathers a pack.
type loader struct {
	pack     *Pack
	byID     map[string]string // file of each id
	problems []rules.Problem
}

func (l *loader) fail(file, format string, args ...any) {
	l.problems = append(l.problems, rules.Problem{File: file, Message: fmt.Sprintf(format, args...)})
}

func (l *loader) folder(fsys fs.FS, shown string) { rules.ReadFolder(fsys, shown, l.add, l.fail) }

// add takes one file into the pack unless it has a mistake.
func (l *loader) add(file string, data []byte) {
	list, samples, problems := parseFile(file, data)
	for _, p := range list {
		if other := l.byID[p.ID]; other != "" {
			problems = append(problems, rules.Problem{
				File: file, Line: p.Line, Column: 1, Message: fmt.Sprintf("id %q is already in %s", p.ID, other),
			})
		}
	}
	l.problems = append(l.problems, problems...)
	if len(rules.Mistakes(problems)) > 0 {
		return
	}
	for _, p := range list {
		l.byID[p.ID] = file
	}
	l.pack.Patterns = append(l.pack.Patterns, list...)
	l.pack.samples = append(l.pack.samples, samples...)
}
