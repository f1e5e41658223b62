package logs

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"stallmark/collectors/process"
	"stallmark/storage/model"
)

// coverageOf says how one log stands.
func coverageOf(st Status) model.Coverage {
	c := model.Coverage{Source: coverName(st), State: model.SourceOK}
	switch {
	case st.Problem != nil:
		c.State, c.Detail, c.Mend = problemOf(st)
	case !st.Found:
		c.State = model.SourceAbsent
		c.Detail = fmt.Sprintf("looked for %s in %s: not there", strings.Join(st.Target.Names, ", "), st.Target.Folder)
		c.Mend = st.Target.Mend
	case st.Leapt > 0:
		c.State = model.SourcePartial
		c.Detail = fmt.Sprintf("%d bytes were passed over: the log grew faster than it may be read", st.Leapt)
	}
	return c
}

// coverName is what a log is called in coverage.
func coverName(st Status) string {
	switch {
	case st.File != nil:
		return "log " + st.File.Path
	case st.Target.What != "" && st.Target.Process != "":
		return st.Target.What + " of " + st.Target.Process
	case st.Target.What != "":
		return st.Target.What
	}
	return "log " + joined(st.Target.Folder, strings.Join(st.Target.Names, "|"))
}

// problemOf says why a log cannot be read.
func problemOf(st Status) (state model.SourceState, detail, mend string) {
	err := st.Problem
	where := st.Target.Folder
	if st.File != nil {
		where = st.File.Path
	}
	switch {
	case errors.Is(err, process.ErrRefused):
		return model.SourceDenied, fmt.Sprintf("%s: %v", where, err), "only what the process's own user may read is read; name the file with --log to read it with the rights of this program"
	case errors.Is(err, fs.ErrPermission):
		return model.SourceDenied, fmt.Sprintf("%s: %v", where, rootCause(err)), "run as a user who may read it, or with CAP_DAC_READ_SEARCH (and CAP_SYS_PTRACE to enter a process's root)"
	case errors.Is(err, fs.ErrNotExist):
		return model.SourceAbsent, fmt.Sprintf("looked for %s in %s: not there", strings.Join(st.Target.Names, ", "), st.Target.Folder), st.Target.Mend
	}
	return model.SourceFailed, fmt.Sprintf("%s: %v", where, rootCause(err)), ""
}

func rootCause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// best drops what was not found where the same log was found elsewhere.
func best(states []Status) []Status {
	type which struct{ process, what string }
	found := map[which]bool{}
	for _, st := range states {
		if st.Found {
			found[which{st.Target.Process, st.Target.What}] = true
		}
	}
	var list []Status
	told := map[which]bool{}
	for _, st := range states {
		w := which{st.Target.Process, st.Target.What}
		if !st.Found && st.File == nil && w.what != "" {
			if found[w] || told[w] {
				continue
			}
			told[w] = true
		}
		list = append(list, st)
	}
	return list
}
