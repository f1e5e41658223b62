package audit

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"stallmark/rules"
)

//go:embed *.yaml
var builtIn embed.FS

// Pack is a set of checks that were read together, in the order of their files.
type Pack struct{ checks []*check }

// Len is the number of checks.
func (p *Pack) Len() int { return len(p.checks) }

// Load reads the built-in checks and those in the folder "audit" of the given
// rule folders, where there is one. A file with a mistake is left out whole; the
// others are used.
func Load(dirs ...string) (*Pack, []rules.Problem) {
	l := &loader{pack: &Pack{}, byID: map[string]string{}}
	l.folder(builtIn, "audit")
	for _, d := range dirs {
		d = path.Join(d, "audit")
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
	checks, problems := parseFile(file, data)
	l.problems = append(l.problems, problems...)
	if len(problems) > 0 {
		return
	}
	for _, c := range checks {
		if other := l.byID[c.id]; other != "" {
			l.fail(file, "id %q is already in %s", c.id, other)
			continue
		}
		l.byID[c.id] = file
		l.pack.checks = append(l.pack.checks, c)
	}
}
