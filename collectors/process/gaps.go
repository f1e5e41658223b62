package process

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// gaps gathers what could not be read in one beat and gives one error of it.
type gaps struct {
	list []collectors.Gap
	got  bool // something was read
}

// add notes a gap once.
func (g *gaps) add(state model.SourceState, detail, mend string) {
	gap := collectors.Gap{State: state, Detail: detail, Mend: mend}
	if !slices.Contains(g.list, gap) {
		g.list = append(g.list, gap)
	}
}

// read notes the error of a read, unless the process or thread has ended.
// what names the file in words that do not change from beat to beat.
func (g *gaps) read(what string, err error, mend string) {
	if err == nil || gone(err) {
		return
	}
	gap, _ := errors.AsType[*collectors.Gap](collectors.GapOf(what, err, mend))
	g.add(gap.State, gap.Detail, gap.Mend)
}

// readOf is read for a file of a process: one that is missing while the process
// lives is absent, by the kernel's making or from the recording.
func (g *gaps) readOf(root collectors.Root, w *watched, file string, err error, mend string) {
	if gone(err) {
		if _, dead := root.Read(w.dir+"stat", nil); dead != nil {
			return
		}
		g.add(model.SourceAbsent, "/proc/PID/"+file+" is missing", "")
		return
	}
	g.read("/proc/PID/"+file, err, mend)
}

// err is nil if nothing was missing, the gap if it was the only thing to read,
// and partial otherwise.
func (g *gaps) err() error {
	if len(g.list) == 0 {
		return nil
	}
	if len(g.list) == 1 && !g.got {
		return &g.list[0]
	}
	var details, mends []string
	for _, gap := range g.list {
		details = append(details, gap.Detail)
		if gap.Mend != "" && !slices.Contains(mends, gap.Mend) {
			mends = append(mends, gap.Mend)
		}
	}
	slices.Sort(details)
	slices.Sort(mends)
	return collectors.Partial(strings.Join(details, "; "), strings.Join(mends, "; "))
}

// gone reports whether the process or thread ended between two reads.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH)
}

// denied reports whether permission is missing.
func denied(err error) bool { return errors.Is(err, fs.ErrPermission) }

// What gives access to which evidence; the wording of the advice.
const (
	mendPtrace = "run with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH, or as the broker's user"
	mendStack  = "run with CAP_SYS_ADMIN for kernel stacks"
)

// join adds the gap of an earlier look.
func (g *gaps) join(err error) {
	if gap, ok := errors.AsType[*collectors.Gap](err); ok {
		g.add(gap.State, gap.Detail, gap.Mend)
	}
}
