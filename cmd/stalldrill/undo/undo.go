package undo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/cmd/stalldrill/host"
)

// Outcome is what was taken back, and what could not be.
type Outcome struct {
	Done     []string `json:"done"`
	Problems []string `json:"problems,omitempty"`
}

// patience is how long a process may take to die and a group to become empty:
// both wait for the kernel to finish what a thread sleeps in.
const patience = 15 * time.Second

// Undo takes the steps back: processes first, since they hold the rest, then
// the latest change first. It goes on after a problem.
func Undo(h host.Host, entries []Entry) Outcome {
	var out Outcome
	for _, children := range []bool{true, false} {
		for _, e := range slices.Backward(entries) {
			if (e.Kind == Child) != children {
				continue
			}
			if err := takeBack(h, e, len(out.Problems) > 0); err != nil {
				out.Problems = append(out.Problems, fmt.Sprintf("%s: %v", e, err))
			} else {
				out.Done = append(out.Done, e.String())
			}
		}
	}
	return out
}

func takeBack(h host.Host, e Entry, keepState bool) error {
	switch e.Kind {
	case Folder:
		return removeFolder(e.Path, keepState)
	case Value:
		return restore(e)
	case Command:
		return absentIsFine(host.Write(e.Path, e.Value))
	case Group:
		return until(func() error { return absentIsFine(unix.Rmdir(e.Path)) })
	case Swap:
		return swapOff(e.Path)
	case Child:
		return kill(h, e)
	}
	return fmt.Errorf("a step of kind %q is not known", e.Kind)
}

// removeFolder removes the drill's folder. After a problem the journal stays,
// for another try.
func removeFolder(path string, keepState bool) error {
	if !keepState {
		return os.RemoveAll(path)
	}
	files, err := os.ReadDir(path)
	for _, f := range files {
		if f.Name() != StateFile {
			err = errors.Join(err, os.RemoveAll(filepath.Join(path, f.Name())))
		}
	}
	return errors.Join(err, errors.New("kept, for stalldrill restore"))
}

// restore writes a value and makes sure that it holds.
func restore(e Entry) error {
	if err := host.Write(e.Path, e.Value); err != nil {
		return err
	}
	now, err := host.Read(e.Path)
	if err == nil && chosen(now) != e.Value {
		err = fmt.Errorf("it is %s after writing %s", now, e.Value)
	}
	return err
}

func absentIsFine(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// kill ends a process and waits until it has let go of everything. A pid that
// another process has by now is left alone.
func kill(h host.Host, e Entry) error {
	gone := func() bool {
		st, err := h.ReadStat(e.Pid)
		return err != nil || st.Start != e.Start || st.State == 'Z'
	}
	if gone() {
		return nil
	}
	if err := unix.Kill(e.Pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
		return err
	}
	return until(func() error {
		if gone() {
			return nil
		}
		return errors.New("still there after SIGKILL")
	})
}

// until repeats a step while it fails, for a bounded time.
func until(step func() error) error {
	deadline := time.Now().Add(patience)
	for {
		err := step()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}
