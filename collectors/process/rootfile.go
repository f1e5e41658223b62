package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// RootOpener opens files that a process named, for instance its configuration,
// without trusting the process: whoever may start a process can give it a
// broker's command line that names /etc/shadow.
//
//   - Names are resolved inside the process's root, one part at a time, with
//     O_PATH|O_NOFOLLOW on an open folder: neither links nor ".." lead out, and
//     nothing can be swapped between check and use. openat2(RESOLVE_IN_ROOT) would
//     do this too (5.6 and later), but in one step, so that the folders on the way
//     could not be checked; this way is the same on every kernel.
//   - Only what the process's own user may reach: every folder's search bit and
//     the file's read bit are checked for its uid and groups. In doubt (access
//     lists, a process that changes its user, unmapped ids) the answer is no.
//   - Only regular files, opened without blocking, never on proc, sys, fuse or
//     other file systems that run code when they are read.
type RootOpener struct {
	procfs      string
	executables []string // names of programs that are believed to be what they say
}

// NewRootOpener makes the opener of a live host whose /proc is at procfs. It
// opens files for JVMs only: the name of the executable is the kernel's word,
// and a set-user-id program dressed as a broker has another one.
func NewRootOpener(procfs string) *RootOpener {
	return &RootOpener{procfs, []string{"java", "jsvc"}}
}

// A refusal wraps ErrRefused and says why.
var ErrRefused = errors.New("refused")

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrRefused, fmt.Sprintf(format, args...))
}

// ReadFile implements [Files]: the whole file, or an error if it is longer than
// limit bytes.
func (o *RootOpener) ReadFile(id ID, path string, limit int) ([]byte, error) {
	f, err := o.Open(id, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err == nil && len(b) > limit {
		return nil, refuse("longer than %d bytes", limit)
	}
	return b, err
}

// Open opens an absolute path for reading as the process would see it. The
// errors are those of open(2) and refusals.
func (o *RootOpener) Open(id ID, path string) (*os.File, error) {
	w, err := o.enter(id, path)
	if err != nil {
		return nil, err
	}
	defer w.close()
	return w.open(path)
}

// ReadDir returns the names in a folder, at most limit of them and in no
// particular order: whoever gets limit names may have been given only some. The
// folder is found and checked as a file is.
func (o *RootOpener) ReadDir(id ID, path string, limit int) ([]string, error) {
	w, err := o.enter(id, path)
	if err != nil {
		return nil, err
	}
	defer w.close()
	return w.list(path, limit)
}

// OpenFolder opens a folder for listing it and for asking about names in it, as
// the process would see it. It is found and checked as a file is; what stands in
// it is not.
func (o *RootOpener) OpenFolder(id ID, path string) (*os.File, error) {
	w, err := o.enter(id, path)
	if err != nil {
		return nil, err
	}
	defer w.close()
	return w.folder(path)
}

// enter makes sure whose root it is and returns a walker that stands in it.
func (o *RootOpener) enter(id ID, path string) (*walker, error) {
	if !strings.HasPrefix(path, "/") || strings.ContainsRune(path, 0) || len(path) > unix.PathMax {
		return nil, refuse("not an absolute path")
	}
	proc, err := unix.Open(filepath.Join(o.procfs, strconv.Itoa(id.Pid)), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(proc)
	who, err := o.identify(proc, id)
	if err != nil {
		return nil, err
	}
	root, err := unix.Openat(proc, "root", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return &walker{who: who, self: filepath.Join(o.procfs, "self/fd"), dirs: []int{root}}, nil
}

// identify makes sure that the folder is this very process running one of the
// executables, and returns what it may. The credentials are read before and
// after the executable, so that an exec in between shows.
func (o *RootOpener) identify(proc int, id ID) (credentials, error) {
	b, err := readAt(proc, "stat")
	if err != nil {
		return credentials{}, err
	}
	if st, ok := parseStat(b); !ok || st.start != id.Start {
		return credentials{}, unix.ESRCH
	}
	before, err := credentialsAt(proc)
	if err != nil {
		return before, err
	}
	exe := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(proc, "exe", exe)
	if err != nil {
		return before, err
	}
	name := executableName(string(exe[:n]))
	if !slices.Contains(o.executables, name) {
		return before, refuse("the executable is %q", cleanName(name))
	}
	after, err := credentialsAt(proc)
	if err == nil && !before.equal(after) {
		err = refuse("the process changed its user")
	}
	return before, err
}

// executableName is the last part of where /proc/PID/exe points to.
func executableName(target string) string {
	return filepath.Base(strings.TrimSuffix(target, " (deleted)"))
}

// readAt reads a small file of a /proc/PID folder.
func readAt(dir int, name string) ([]byte, error) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 1<<16))
}

func credentialsAt(proc int) (credentials, error) {
	b, err := readAt(proc, "status")
	if err != nil {
		return credentials{}, err
	}
	return parseCredentials(b)
}

// credentials are what file permissions go by.
type credentials struct {
	uid      uint32
	gids     []uint32
	override bool // root with the capability to pass by mode bits
}

// overflowID stands for every id that has no name in a user namespace.
const overflowID = 65534

// capDAC are CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH.
const capDAC = 1<<1 | 1<<2

// parseCredentials reads Uid, Gid, Groups and CapEff of /proc/PID/status. A
// process whose real, effective, saved and file-system ids differ is refused.
func parseCredentials(status []byte) (credentials, error) {
	var c credentials
	var uids, gids []uint32
	var caps uint64
	eachLine(status, func(key, rest []byte) {
		switch string(key) {
		case "Uid":
			uids = parseIDs(rest)
		case "Gid":
			gids = parseIDs(rest)
		case "Groups":
			c.gids = parseIDs(rest)
		case "CapEff":
			caps, _ = strconv.ParseUint(string(bytes.TrimSpace(rest)), 16, 64)
		}
	})
	if len(uids) != 4 || len(gids) != 4 || !allEqual(uids) || !allEqual(gids) {
		return c, refuse("the process runs under several user ids")
	}
	if uids[0] == overflowID || gids[0] == overflowID {
		return c, refuse("the process's user cannot be told (nobody, or another user namespace)")
	}
	c.uid = uids[0]
	c.gids = append(c.gids, gids[0])
	c.gids = slices.DeleteFunc(c.gids, func(g uint32) bool { return g == overflowID })
	c.override = c.uid == 0 && caps&capDAC != 0
	return c, nil
}

func parseIDs(b []byte) []uint32 {
	var ids []uint32
	for _, f := range bytes.Fields(b) {
		v, err := strconv.ParseUint(string(f), 10, 32)
		if err != nil {
			return nil
		}
		ids = append(ids, uint32(v))
	}
	return ids
}

func allEqual(ids []uint32) bool {
	for _, v := range ids {
		if v != ids[0] {
			return false
		}
	}
	return true
}

func (c credentials) equal(d credentials) bool {
	return c.uid == d.uid && c.override == d.override && slices.Equal(c.gids, d.gids)
}

// may answers whether the mode bits give the wanted access: 4 to read, 1 to
// search a folder.
func (c credentials) may(st *unix.Stat_t, want uint32) bool {
	mode := uint32(st.Mode)
	switch {
	case c.override:
		return true
	case st.Uid == c.uid:
		return mode>>6&want == want
	case slices.Contains(c.gids, st.Gid):
		return mode>>3&want == want
	}
	return mode&want == want
}
