package pagecache

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"stallmark/collectors"
	"stallmark/collectors/process"
	"stallmark/storage/model"
)

// gaps gathers what could not be had in one pass.
type gaps struct {
	list []collectors.Gap
	got  bool // something was had
}

// What gives access to which evidence; the wording of the advice.
const (
	mendOpen = "run with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH, or as the broker's user"
	mendTell = "run with CAP_FOWNER, or as the broker's user"
)

func (g *gaps) add(state model.SourceState, mend, format string, args ...any) {
	gap := collectors.Gap{State: state, Detail: fmt.Sprintf(format, args...), Mend: mend}
	if !slices.Contains(g.list, gap) {
		g.list = append(g.list, gap)
	}
}

// of notes why something of a process's store was not to be had. One that
// vanished while it was looked for is none.
func (g *gaps) of(name string, err error) {
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ESRCH):
	case errors.Is(err, errWithheld):
		g.add(model.SourceDenied, mendTell, "files of %s: %v", name, err)
	case errors.Is(err, errForeign):
		g.add(model.SourceAbsent, "", "files of %s: %v", name, err)
	case errors.Is(err, errTooLarge):
		g.add(model.SourcePartial, "", "files of %s: %v", name, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, process.ErrRefused):
		g.add(model.SourceDenied, mendOpen, "files of %s: %v", name, reason(err))
	default:
		g.add(model.SourceFailed, "", "files of %s: %v", name, reason(err))
	}
}

// ofKernel notes why less than everything was told of the files looked at.
func (g *gaps) ofKernel(l *looker) {
	const only = "only resident bytes are told, none dirty, in writeback or evicted"
	switch {
	case l.noCachestat:
		g.add(model.SourcePartial, "Linux 6.5 or later", "no cachestat(2): %s", only)
	case l.barred:
		g.add(model.SourcePartial, "allow cachestat in the seccomp profile", "cachestat(2) is forbidden: %s", only)
	case l.layered:
		g.add(model.SourcePartial, "put the store on a volume", "a store is on overlayfs: %s", only)
	}
}

// reason drops the path of an error, which is the process's text.
func reason(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// err is nil if nothing was missing, the gap if it is the only thing to tell,
// and partial otherwise.
func (g *gaps) err() error {
	if len(g.list) == 0 {
		return nil
	}
	if len(g.list) == 1 && !g.got {
		return &g.list[0]
	}
	list := slices.SortedFunc(slices.Values(g.list), func(a, b collectors.Gap) int { return cmp.Compare(a.Detail, b.Detail) })
	var details, mends []string
	for _, gap := range list {
		details = append(details, gap.Detail)
		if gap.Mend != "" && !slices.Contains(mends, gap.Mend) {
			mends = append(mends, gap.Mend)
		}
	}
	return collectors.Partial(strings.Join(details, "; "), strings.Join(mends, "; "))
}
