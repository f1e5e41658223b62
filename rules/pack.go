package rules

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"stallmark/storage/model"
)

//go:embed signatures/*.yaml
var builtIn embed.FS

// Pack is a set of signatures that were read together.
type Pack struct {
	Signatures []*Signature // by layer (causes first), severity, id

	byID    map[string]*Signature
	version string
}

// Signature returns the signature with this id, nil if there is none.
func (p *Pack) Signature(id string) *Signature { return p.byID[id] }

// Version changes exactly when the contents of the pack do.
func (p *Pack) Version() string { return p.version }

// Load reads the built-in signatures and those in the given folders
// (*.yaml, *.yml). A file with a mistake is left out; the others are used.
func Load(dirs ...string) (*Pack, []Problem) {
	l := &loader{pack: &Pack{byID: map[string]*Signature{}}}
	if sub, err := fs.Sub(builtIn, "signatures"); err == nil {
		l.folder(sub, "signatures", true)
	}
	for _, d := range dirs {
		l.folder(os.DirFS(d), d, false)
	}
	l.finish()
	return l.pack, l.problems
}

// loader gathers a pack.
type loader struct {
	pack     *Pack
	problems []Problem
	hashes   []string
	lets     lets // of the folders so far
}

func (l *loader) fail(file, format string, args ...any) {
	l.problems = append(l.problems, Problem{File: file, Message: fmt.Sprintf(format, args...)})
}

// folder reads every signature file directly in a folder.
func (l *loader) folder(fsys fs.FS, shown string, builtIn bool) {
	type ruleFile struct {
		name string
		data []byte
	}
	var files []ruleFile
	ReadFolder(fsys, shown, func(name string, data []byte) {
		if !isLetFile(name) {
			files = append(files, ruleFile{name, data})
			return
		}
		names, problems := parseLets(name, data, l.lets)
		l.lets, l.problems = names, append(l.problems, problems...)
		l.hash(letFile, data)
	}, l.fail)
	for _, f := range files {
		l.add(f.name, f.data, builtIn)
	}
}

// hash makes a file part of the pack's version.
func (l *loader) hash(name string, data []byte) {
	sum := sha256.Sum256(data)
	l.hashes = append(l.hashes, name+" "+hex.EncodeToString(sum[:]))
}

// add takes one file into the pack unless it has a mistake.
func (l *loader) add(file string, data []byte, builtIn bool) {
	s, problems := parseSignature(file, data, l.lets)
	l.problems = append(l.problems, problems...)
	if s == nil {
		return
	}
	if other := l.pack.byID[s.ID]; other != nil {
		l.fail(file, "id %q is already that of %s", s.ID, other.File)
		return
	}
	s.BuiltIn = builtIn
	l.pack.byID[s.ID] = s
	l.pack.Signatures = append(l.pack.Signatures, s)
	l.hash(s.ID, data)
}

// parseSignature reads one file; the signature is nil if it has a mistake.
func parseSignature(file string, data []byte, known lets) (*Signature, []Problem) {
	r := &reader{file: file, lets: known}
	n := r.parse(data)
	if n == nil {
		return nil, r.problems
	}
	s := r.decode(n)
	name := path.Base(file)
	if name = strings.TrimSuffix(name, path.Ext(name)); s.ID != "" && s.ID != name {
		line, column := keyPlace(n, "id")
		r.failAt(line, column, "id %q differs from the file's name %q", s.ID, name)
	}
	sortProblems(r.problems)
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	s.noteRefs(n)
	return s, nil
}

// finish sorts the pack, notes mentions of ids that nobody has, and makes the
// version.
func (l *loader) finish() {
	for _, s := range l.pack.Signatures {
		for _, ref := range s.refs {
			if l.pack.byID[ref.id] == nil {
				l.problems = append(l.problems, Problem{
					File: s.File, Line: ref.line, Column: ref.column, Note: true,
					Message: fmt.Sprintf("%s: there is no signature %q (yet)", ref.key, ref.id),
				})
			}
		}
	}
	slices.SortFunc(l.pack.Signatures, func(a, b *Signature) int {
		return cmp.Or(
			cmp.Compare(layerRank(a.Layer), layerRank(b.Layer)),
			cmp.Compare(severityRank(a.Severity), severityRank(b.Severity)),
			strings.Compare(a.ID, b.ID),
		)
	})
	sortProblems(l.problems)
	slices.Sort(l.hashes)
	sum := sha256.Sum256([]byte(strings.Join(l.hashes, "\n")))
	l.pack.version = hex.EncodeToString(sum[:6])
}

// layerRank orders causes before mechanisms before symptoms.
func layerRank(l model.Layer) int {
	return slices.Index([]model.Layer{model.LayerCause, model.LayerMechanism, model.LayerSymptom}, l)
}

// severityRank orders critical first.
func severityRank(s model.Severity) int {
	return slices.Index([]model.Severity{model.SeverityCritical, model.SeverityWarning, model.SeverityInfo}, s)
}
