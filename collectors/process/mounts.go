package process

import (
	"path"
	"strings"
)

// deviceNamed returns the name of the block device with a number ("254:1"),
// from the text of /proc/diskstats; empty if there is none.
func deviceNamed(diskstats []byte, number string) string {
	major, minor, _ := strings.Cut(number, ":")
	for len(diskstats) > 0 {
		var line []byte
		line, diskstats = cutLine(diskstats)
		a, line := nextField(line)
		b, line := nextField(line)
		if string(a) == major && string(b) == minor {
			device, _ := nextField(line)
			return cleanName(string(device))
		}
	}
	return ""
}

// mount is what is used of a line of mountinfo.
type mount struct {
	number string // of the device, "254:1"; 0:N where the file system has none
	point  string
	source string
	fstype string
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
	return mount{f[2], unescapeMount(f[4]), unescapeMount(tail[1]), tail[0]}, true
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
