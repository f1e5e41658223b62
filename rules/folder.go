package rules

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// maxFile is more than any rule file needs, in bytes.
const maxFile = 1 << 20

// ReadFolder gives the rule files directly in a folder (*.yaml, *.yml, none that
// is hidden) to add, under the name by which the folder is shown. What cannot
// be read goes to fail, and the rest is read.
func ReadFolder(fsys fs.FS, shown string, add func(file string, data []byte), fail func(file, format string, args ...any)) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		fail(shown, "cannot read: %v", bare(err))
		return
	}
	for _, e := range entries {
		if ext := path.Ext(e.Name()); ext != ".yaml" && ext != ".yml" || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		file := path.Join(shown, e.Name())
		data, err := readRegular(fsys, e.Name())
		if err != nil {
			fail(file, "cannot read: %v", bare(err))
			continue
		}
		add(file, data)
	}
}

// readRegular reads a file of bounded size; a pipe or device would block.
func readRegular(fsys fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%d bytes: more than a rule file can have (%d)", info.Size(), maxFile)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile))
}

// bare drops the path that a PathError repeats.
func bare(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
