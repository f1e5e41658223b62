package collectors

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"syscall"
)

// MapRoot is a [Root] in memory: one tick of a recording, or a tree written for
// a test. Names are as in Root ("proc/vmstat"). Folders follow from the names;
// a name that ends in a slash in Files is a folder that may be empty.
//
// It may be used by several goroutines at once as long as nobody changes the
// maps.
type MapRoot struct {
	Files map[string][]byte // contents by name
	Links map[string]string // symbolic links: name to target, relative to the link or a name that begins with a slash
	Errs  map[string]error  // what reading a name fails with, for instance unix.EOPNOTSUPP; goes before Files
}

// maxLinks bounds the symbolic links in one path, as the kernel's ELOOP does.
const maxLinks = 40

// Read implements [Root].
func (r *MapRoot) Read(name string, buf []byte) ([]byte, error) {
	if len(r.Errs) == 0 { // the usual case, without following links
		if data, ok := r.Files[name]; ok {
			return append(buf[:0], data...), nil
		}
	}
	real, err := r.resolve(name, true)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	data, ok := r.Files[real]
	switch {
	case ok:
		return append(buf[:0], data...), nil
	case r.isDir(real):
		return nil, &fs.PathError{Op: "read", Path: name, Err: syscall.EISDIR}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOENT}
}

// ReadDir implements [Root]. Names come sorted.
func (r *MapRoot) ReadDir(name string) ([]string, error) {
	real, err := r.resolve(name, true)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	if _, ok := r.Files[real]; ok {
		return nil, &fs.PathError{Op: "readdirent", Path: name, Err: syscall.ENOTDIR}
	}
	if !r.isDir(real) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOENT}
	}
	children := map[string]bool{}
	for n := range r.names() {
		rest, ok := strings.CutPrefix(n, real+"/")
		if child, _, _ := strings.Cut(rest, "/"); ok && child != "" {
			children[child] = true
		}
	}
	return slices.Sorted(maps.Keys(children)), nil
}

// ReadLink implements [Root].
func (r *MapRoot) ReadLink(name string) (string, error) {
	real, err := r.resolve(name, false)
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	if target, ok := r.Links[real]; ok {
		return target, nil
	}
	err = syscall.ENOENT
	if _, ok := r.Files[real]; ok || r.isDir(real) {
		err = syscall.EINVAL
	}
	return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
}

// resolve follows the symbolic links in a name; with last also one that is its
// last part. It answers with the error of the first part that has one.
func (r *MapRoot) resolve(name string, last bool) (string, error) {
	todo := strings.Split(path.Clean(name), "/")
	done, followed := "", 0
	for len(todo) > 0 {
		done = path.Join(done, todo[0])
		todo = todo[1:]
		if err, ok := r.Errs[done]; ok {
			return "", err
		}
		target, ok := r.Links[done]
		if !ok || len(todo) == 0 && !last {
			continue
		}
		if followed++; followed > maxLinks {
			return "", syscall.ELOOP
		}
		if !strings.HasPrefix(target, "/") {
			target = path.Join("/", path.Dir(done), target)
		}
		target = strings.TrimPrefix(path.Clean(target), "/")
		todo = append(strings.Split(target, "/"), todo...)
		done = ""
	}
	return done, nil
}

// isDir reports whether something lies below the name.
func (r *MapRoot) isDir(name string) bool {
	for n := range r.names() {
		if len(n) > len(name) && n[len(name)] == '/' && n[:len(name)] == name {
			return true
		}
	}
	return false
}

// names yields every name of the tree.
func (r *MapRoot) names() func(func(string) bool) {
	return func(yield func(string) bool) {
		for n := range r.Files {
			if !yield(n) {
				return
			}
		}
		for n := range r.Links {
			if !yield(n) {
				return
			}
		}
		for n := range r.Errs {
			if !yield(n) {
				return
			}
		}
	}
}

// ParseMapRoot reads a tree from a text that people can read and review:
//
//	anything before the first header is a comment
//	-- proc/loadavg --
//	0.50 0.40 0.30 2/345 6789
//	-- sys/block/vda -> ../devices/pci0000:00/vda --
//	-- proc/pressure/io ! EOPNOTSUPP --
//
// It is for fixtures: contents are text whose last line ends in a newline. The
// errors that can be named are EACCES, EPERM, ENOENT, EIO and EOPNOTSUPP.
func ParseMapRoot(text string) (*MapRoot, error) {
	r := &MapRoot{Files: map[string][]byte{}, Links: map[string]string{}, Errs: map[string]error{}}
	current := ""
	for i, line := range strings.SplitAfter(text, "\n") {
		header, ok := treeHeader(line)
		if !ok {
			if current != "" {
				r.Files[current] = append(r.Files[current], line...)
			}
			continue
		}
		current = ""
		if name, target, ok := strings.Cut(header, " -> "); ok {
			r.Links[name] = target
		} else if name, word, ok := strings.Cut(header, " ! "); ok {
			if r.Errs[name] = errnoNamed(word); r.Errs[name] == nil {
				return nil, fmt.Errorf("line %d: error %q: want EACCES, EPERM, ENOENT, EIO or EOPNOTSUPP", i+1, word)
			}
		} else {
			current = header
			r.Files[header] = []byte{}
		}
	}
	return r, nil
}

// treeHeader returns what stands between the dashes of a header line.
func treeHeader(line string) (string, bool) {
	line = strings.TrimRight(line, "\n")
	rest, ok := strings.CutPrefix(line, "-- ")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(rest, " --")
}

// errnoNamed is the error of the given name, nil if it has none here.
func errnoNamed(name string) error {
	switch name {
	case "EACCES":
		return syscall.EACCES
	case "EPERM":
		return syscall.EPERM
	case "ENOENT":
		return syscall.ENOENT
	case "EIO":
		return syscall.EIO
	case "EOPNOTSUPP":
		return syscall.EOPNOTSUPP
	}
	return nil
}
