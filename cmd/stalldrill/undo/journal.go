package undo

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stallmark/cmd/stalldrill/host"
)

// FolderPrefix begins the name of every folder that a drill makes.
const FolderPrefix = "stalldrill-"

// Journal makes changes and remembers how to take them back. It is used by one
// goroutine.
type Journal struct {
	host    host.Host
	folder  string
	file    *os.File
	entries []Entry
	saved   map[string]bool // settings whose first value is remembered
}

// Create makes the drill's folder below dir, with the journal in it.
func Create(h host.Host, dir string) (*Journal, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(dir, FolderPrefix)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(folder, StateFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, errors.Join(err, os.Remove(folder))
	}
	j := &Journal{host: h, folder: folder, file: f, saved: map[string]bool{}}
	if err := j.add(Entry{Kind: Folder, Path: folder}); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return j, nil
}

// Folder is where all files of the drill live.
func (j *Journal) Folder() string { return j.folder }

// Path is the journal's own file.
func (j *Journal) Path() string { return j.file.Name() }

// add writes an entry before the change that it takes back.
func (j *Journal) add(e Entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	j.entries = append(j.entries, e)
	return nil
}

// Set changes a setting of /proc or /sys after saving its present value.
func (j *Journal) Set(path, value string) error {
	if err := j.save(path); err != nil {
		return err
	}
	if err := host.Write(path, value); err != nil {
		return fmt.Errorf("set %s to %s: %w", path, value, err)
	}
	return nil
}

// save remembers the first value that a setting had.
func (j *Journal) save(path string) error {
	if j.saved[path] {
		return nil
	}
	now, err := host.Read(path)
	if err != nil {
		return err
	}
	e, err := restoring(path, chosen(now))
	if err != nil {
		return err
	}
	j.saved[path] = true
	if twin := twinOf(path); twin != "" {
		j.saved[twin] = true
	}
	return j.add(e)
}

// chosen is the value to write back: of a list of choices as in "always
// [madvise] never" the one in brackets.
func chosen(text string) string {
	for _, w := range strings.Fields(text) {
		if inner, ok := strings.CutPrefix(w, "["); ok && strings.HasSuffix(inner, "]") {
			return strings.TrimSuffix(inner, "]")
		}
	}
	return text
}

// twinOf is the setting that is 0 while this one counts, and the other way
// round; empty for a setting that stands alone.
func twinOf(path string) string {
	pairs := [][2]string{
		{"dirty_bytes", "dirty_ratio"},
		{"dirty_background_bytes", "dirty_background_ratio"},
	}
	dir, name := filepath.Split(path)
	for _, p := range pairs {
		if i := slices.Index(p[:], name); i >= 0 {
			return filepath.Join(dir, p[1-i])
		}
	}
	return ""
}

// restoring is the entry that brings back a value. The kernel ignores 0 in
// dirty_bytes, and any value there makes the ratio 0: where the bytes are 0 the
// ratio is what must be written.
func restoring(path, value string) (Entry, error) {
	twin := twinOf(path)
	if twin == "" || value != "0" {
		return Entry{Kind: Value, Path: path, Value: value}, nil
	}
	other, err := host.Read(twin)
	if err != nil {
		return Entry{}, err
	}
	if other == "0" && strings.HasSuffix(path, "_ratio") {
		twin = path // both are 0, which only a ratio can be made
	}
	return Entry{Kind: Value, Path: twin, Value: other}, nil
}

// MakeGroup makes a control group. A controller that version 2 has not yet
// handed to the children of the parent is handed to them for the time.
func (j *Journal) MakeGroup(g host.Cgroups, controller, name string) (string, error) {
	if g.Version == 2 {
		control := filepath.Join(g.Parent, "cgroup.subtree_control")
		on, err := host.Read(control)
		if err != nil {
			return "", err
		}
		if !slices.Contains(strings.Fields(on), controller) {
			if err := j.Order(control, "+"+controller, "-"+controller); err != nil {
				return "", err
			}
		}
	}
	path := filepath.Join(g.Parent, FolderPrefix+name)
	if err := j.add(Entry{Kind: Group, Path: path}); err != nil {
		return "", err
	}
	return path, os.Mkdir(path, 0o755)
}

// Order writes a command to a file that does not give it back, and remembers
// the command that undoes it.
func (j *Journal) Order(path, value, back string) error {
	if err := j.add(Entry{Kind: Command, Path: path, Value: back}); err != nil {
		return err
	}
	if err := host.Write(path, value); err != nil {
		return fmt.Errorf("write %q to %s: %w", value, path, err)
	}
	return nil
}

// AddCommand remembers a command to be written to path when undoing.
func (j *Journal) AddCommand(path, value string) error {
	return j.add(Entry{Kind: Command, Path: path, Value: value})
}

// AddChild remembers a process of the drill.
func (j *Journal) AddChild(pid int) error {
	st, err := j.host.ReadStat(pid)
	if err != nil {
		return fmt.Errorf("process %d: %w", pid, err)
	}
	return j.add(Entry{Kind: Child, Pid: pid, Start: st.Start})
}

// Undo takes all changes back.
func (j *Journal) Undo() Outcome {
	j.file.Close()
	return Undo(j.host, j.entries)
}
