package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// group is a control group for the broker's memory alone, empty where there can be none.
type group struct {
	folder string
	v2     bool
}

// newGroup makes one on whichever version of control groups has the memory controller.
func newGroup(name string) (group, error) {
	g := group{folder: "/sys/fs/cgroup/memory/stallmark-lab-" + name}
	if list, err := os.ReadFile("/sys/fs/cgroup/cgroup.controllers"); err == nil && strings.Contains(string(list), "memory") {
		g = group{"/sys/fs/cgroup/stallmark-lab-" + name, true}
	}
	if err := os.Mkdir(g.folder, 0o755); err != nil && !os.IsExist(err) {
		return group{}, err
	}
	return g, nil
}

func (g group) write(file, text string) error {
	if g.folder == "" {
		return fmt.Errorf("there is no control group: it needs root and the memory controller")
	}
	return os.WriteFile(filepath.Join(g.folder, file), []byte(text), 0)
}

// take moves a process into it; what it uses from then on is charged to it.
func (g group) take(pid int) error { return g.write("cgroup.procs", strconv.Itoa(pid)) }

// squeeze limits it to what is not page cache, at least to what that will grow to, and a little more; restore lifts the limit.
func (g group) squeeze(least, more int64) (restore func(), err error) {
	anon, err := g.anon()
	if err != nil {
		return nil, err
	}
	anon = max(anon, least)
	file, none := "memory.limit_in_bytes", "-1"
	if g.v2 {
		file, none = "memory.max", "max"
	}
	for range 20 { // version 1 refuses while there is too much that cannot be dropped at once
		if err = g.write(file, strconv.FormatInt(anon+more, 10)); err == nil {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	return func() { _ = g.write(file, none) }, err
}

// anon is its memory that is no page cache, in bytes.
func (g group) anon() (int64, error) {
	f, err := os.Open(filepath.Join(g.folder, "memory.stat"))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		key, value, _ := strings.Cut(lines.Text(), " ")
		if key == "total_rss" || key == "anon" {
			return strconv.ParseInt(value, 10, 64)
		}
	}
	return 0, fmt.Errorf("%s: neither total_rss nor anon", f.Name())
}

// remove removes it once it is empty.
func (g group) remove() {
	for range 20 {
		if g.folder == "" || os.Remove(g.folder) == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}
