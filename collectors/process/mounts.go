package process

import (
	"path"
	"strconv"
	"strings"

	"stallmark/collectors"
)

// deviceNamed returns the name of the block device with these numbers, from
// /proc/diskstats; empty if there is none (an overlay, tmpfs or network file
// system has major number 0).
func deviceNamed(root collectors.Root, major, minor uint64, buf *[]byte) string {
	if major == 0 {
		return ""
	}
	var err error
	if *buf, err = root.Read("proc/diskstats", *buf); err != nil {
		return ""
	}
	name := ""
	for rest := *buf; len(rest) > 0 && name == ""; {
		var line []byte
		line, rest = cutLine(rest)
		a, line := nextField(line)
		b, line := nextField(line)
		device, _ := nextField(line)
		if v, ok := parseUint(a); !ok || v != major {
			continue
		}
		if v, ok := parseUint(b); ok && v == minor {
			name = cleanName(string(device))
		}
	}
	return name
}

// deviceUnder returns the block device below a path as the process sees it,
// from its own mounts.
func deviceUnder(root collectors.Root, w *watched, dir string, buf *[]byte) string {
	var err error
	if *buf, err = root.Read(w.dir+"mountinfo", *buf); err != nil {
		return ""
	}
	m, ok := mountOf(string(*buf), dir)
	if !ok {
		return ""
	}
	if name := deviceNamed(root, m.major, m.minor, buf); name != "" {
		return name
	}
	if strings.HasPrefix(m.source, "/dev/") && !strings.HasPrefix(m.source, "/dev/mapper/") {
		return cleanName(path.Base(m.source)) // btrfs has device numbers of its own
	}
	return ""
}

// mount is what is used of a line of mountinfo.
type mount struct {
	major, minor uint64
	point        string
	source       string
}

// mountOf finds the mount that holds a folder: the longest mount point above
// it, the last mounted if there are several.
func mountOf(mountinfo, dir string) (mount, bool) {
	dir = path.Clean(dir)
	best, found := mount{}, false
	for line := range strings.Lines(mountinfo) {
		m, ok := parseMount(line)
		if ok && below(m.point, dir) && (!found || len(m.point) >= len(best.point)) {
			best, found = m, true
		}
	}
	return best, found
}

// parseMount reads one line (Documentation/filesystems/proc.rst, 3.5):
//
//	36 35 98:0 /root /mount/point rw,noatime master:1 - ext4 /dev/root rw
func parseMount(line string) (mount, bool) {
	before, after, ok := strings.Cut(line, " - ")
	f, tail := strings.Fields(before), strings.Fields(after)
	if !ok || len(f) < 5 || len(tail) < 2 {
		return mount{}, false
	}
	major, minor, _ := strings.Cut(f[2], ":")
	a, errA := strconv.ParseUint(major, 10, 32)
	b, errB := strconv.ParseUint(minor, 10, 32)
	return mount{a, b, unescapeMount(f[4]), unescapeMount(tail[1])}, errA == nil && errB == nil
}

// below reports whether dir is point or lies in it.
func below(point, dir string) bool {
	return point == "/" || dir == point || strings.HasPrefix(dir, point+"/")
}

// unescapeMount undoes the octal escapes for blanks and backslashes.
func unescapeMount(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}
