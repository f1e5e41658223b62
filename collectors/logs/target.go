package logs

import (
	"cmp"
	"slices"
	"strings"

	"stallmark/collectors/process"
)

// Target says where logs are.
type Target struct {
	Owner   process.ID // whose root the folder is in; zero for the host's own
	Process string     // name of the watched process that writes them, empty if none
	Pid     int
	Role    string

	Folder string   // absolute; a part may hold *, ? and [...]
	Names  []string // patterns of the files' names before rotation, as path.Match has them
	Except []string // and of those that are not meant
	Kind   Kind
	Zone   string // of the time stamps, empty to be guessed
	Format Format // empty to be found out

	// Echo says that a broker prints there what it writes to its own log files too, if
	// it has any: the lines are not counted twice.
	Echo bool

	writer process.ID // of the lines
	hasOwn bool       // there are targets for its own files

	What string // the log in words, for when nothing is found: "the GC log"
	Mend string // how to make it be there
}

// key tells targets apart over restarts of the process that they belong to.
func (t Target) key() string {
	return strings.Join([]string{t.Process, t.Folder, string(t.Kind), strings.Join(t.Names, "\x00")}, "\x01")
}

// fileFor describes a stream of the target.
func (t Target) fileFor(base string) *File {
	return &File{
		Path: joined(t.Folder, base), Kind: t.Kind, Process: t.Process, Pid: t.Pid, Role: t.Role, Start: t.writer.Start, Zone: t.Zone, Format: t.Format,
	}
}

func joined(folder, name string) string {
	return strings.TrimSuffix(folder, "/") + "/" + name
}

// wild reports whether a path has to be expanded.
func wild(path string) bool { return strings.ContainsAny(path, "*?[") }

// sorted puts targets into a fixed order and drops repeated ones.
func sorted(targets []Target) []Target {
	list := slices.Clone(targets)
	slices.SortStableFunc(list, func(a, b Target) int { return cmp.Compare(a.key(), b.key()) })
	return slices.CompactFunc(list, func(a, b Target) bool { return a.key() == b.key() })
}
