package undo

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Kind says what an entry takes back.
type Kind string

// The kinds of entries.
const (
	Folder  Kind = "folder"  // Path is removed with all in it
	Value   Kind = "value"   // Value is written to Path and read again to check
	Command Kind = "command" // Value is written to Path, which does not give it back
	Group   Kind = "group"   // the control group at Path is removed
	Swap    Kind = "swap"    // swapping to Path is switched off
	Child   Kind = "child"   // the process Pid, started at Start, is killed
)

// Entry is one step back.
type Entry struct {
	Kind  Kind   `json:"kind"`
	Path  string `json:"path,omitempty"`
	Value string `json:"value,omitempty"`
	Pid   int    `json:"pid,omitempty"`
	Start uint64 `json:"start,omitempty"` // clock ticks after boot
}

// String is the entry as it is told to the user.
func (e Entry) String() string {
	switch e.Kind {
	case Value, Command:
		return e.Path + " = " + e.Value
	case Child:
		return fmt.Sprintf("process %d", e.Pid)
	}
	return e.Path
}

// StateFile is the name of the journal in the drill's folder.
const StateFile = "state"

// Read reads a journal. A line that is cut off is the last one, and its change
// was not made yet: it is left out. The file must be ours and writable by
// nobody else, since its steps are taken with our rights.
func Read(path string) ([]Entry, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Mode&0o022 != 0 || int(st.Uid) != os.Geteuid() {
		return nil, fmt.Errorf("%s: not a file of our own that only we may write", path)
	}
	var entries []Entry
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e Entry
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			break
		}
		entries = append(entries, e)
	}
	if len(entries) == 0 || entries[0].Kind != Folder || entries[0].Path != filepath.Dir(path) {
		return nil, fmt.Errorf("%s: not a journal of the folder that it is in", path)
	}
	return entries, nil
}
