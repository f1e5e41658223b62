package host

import (
	"bytes"
	"strings"

	"stallmark/collectors"
)

// Mount is one line of /proc/PID/mountinfo (Documentation/filesystems/proc.rst,
// 3.5). Texts are unescaped and may hold any byte.
type Mount struct {
	Device  string // major:minor as the file system reports it; 0:N where it has no device of its own
	Root    string // the folder of the file system that is mounted, "/" for all of it
	Point   string // where, seen from the process's own root
	FSType  string
	Source  string // "/dev/vda1", or whatever the file system calls its source
	Options string // of the mount, then of the file system, comma-separated
}

// maxMounts bounds what is kept of a mountinfo; hosts of containers have
// thousands.
const maxMounts = 20000

// ParseMounts reads a whole mountinfo, in its order. The error names the first
// line of another form; the other lines are still there.
func ParseMounts(name string, data []byte) ([]Mount, error) {
	l := readLines(name, data)
	var mounts []Mount
	for line, ok := l.next(); ok && len(mounts) < maxMounts; line, ok = l.next() {
		if m, ok := parseMount(line); ok {
			mounts = append(mounts, m)
		} else {
			l.fault("id, parent, major:minor, root, mount point, options, -, type, source and options")
		}
	}
	return mounts, l.err(len(mounts) > 0)
}

// parseMount reads "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw".
func parseMount(line []byte) (Mount, bool) {
	before, after, ok := bytes.Cut(line, []byte(" - "))
	if !ok {
		return Mount{}, false
	}
	var head [6][]byte
	for i := range head {
		if head[i], before = cutField(before); len(head[i]) == 0 {
			return Mount{}, false
		}
	}
	fsType, after := cutField(after)
	source, after := cutMaybeEmpty(after)
	options, _ := cutField(after)
	m := Mount{
		Device:  string(head[2]),
		Root:    string(unescape(head[3])),
		Point:   string(unescape(head[4])),
		FSType:  string(unescape(fsType)),
		Source:  string(unescape(source)),
		Options: joinOptions(string(head[5]), string(unescape(options))),
	}
	return m, len(fsType) > 0 && strings.HasPrefix(m.Point, "/") && isDeviceNumber(m.Device)
}

// joinOptions puts those of the file system after those of the mount. Both
// begin with rw or ro; one ro is enough, for instance that of ext4 after an
// error.
func joinOptions(mount, fileSystem string) string {
	first, rest, _ := strings.Cut(fileSystem, ",")
	switch first {
	case "ro":
		mount = "ro" + strings.TrimPrefix(strings.TrimPrefix(mount, "rw"), "ro")
	case "rw":
	default:
		rest = fileSystem
	}
	if rest == "" {
		return mount
	}
	return mount + "," + rest
}

// cutMaybeEmpty gives the field after exactly one space: a source may be empty.
func cutMaybeEmpty(b []byte) (field, rest []byte) {
	b = bytes.TrimPrefix(b, []byte(" "))
	if i := bytes.IndexByte(b, ' '); i >= 0 {
		return b[:i], b[i:]
	}
	return b, nil
}

// isDeviceNumber reports whether s is major:minor.
func isDeviceNumber(s string) bool {
	major, minor, ok := strings.Cut(s, ":")
	_, majorOK := parseUint([]byte(major))
	_, minorOK := parseUint([]byte(minor))
	return ok && majorOK && minorOK
}

// MountOf gives the mount that a clean absolute path lies on: the longest
// mount point above it, the last one mounted there.
func MountOf(mounts []Mount, path string) (Mount, bool) {
	best := -1
	for i, m := range mounts {
		if isBelow(path, m.Point) && (best < 0 || len(m.Point) >= len(mounts[best].Point)) {
			best = i
		}
	}
	if best < 0 {
		return Mount{}, false
	}
	return mounts[best], true
}

// isBelow reports whether path is the folder or lies in it.
func isBelow(path, folder string) bool {
	if folder == "/" {
		return strings.HasPrefix(path, "/")
	}
	rest, ok := strings.CutPrefix(path, folder)
	return ok && (rest == "" || rest[0] == '/')
}

// unescape undoes the kernel's escapes: a backslash and three octal digits
// (mangle in fs/seq_file.c). Anything else stays as it is.
func unescape(b []byte) []byte {
	if bytes.IndexByte(b, '\\') < 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if c, ok := octal(b[i:]); ok {
			out = append(out, c)
			i += 3
			continue
		}
		out = append(out, b[i])
	}
	return out
}

// octal reads "\040" at the beginning of b.
func octal(b []byte) (byte, bool) {
	if len(b) < 4 || b[0] != '\\' {
		return 0, false
	}
	v := 0
	for _, c := range b[1:4] {
		if c < '0' || c > '7' {
			return 0, false
		}
		v = v*8 + int(c-'0')
	}
	return byte(v), v < 256
}

// mountinfo lists the mounts of the host's first process (proc_pid_mountinfo(5)).
const mountinfo = "proc/1/mountinfo"

// readMounts reads the mounts of the host: those of its first process, or of
// our own where that one's cannot be read.
func readMounts(root collectors.Root) ([]Mount, error) {
	var first error
	for _, name := range []string{mountinfo, "proc/self/mountinfo"} {
		data, err := root.Read(name, nil)
		if err == nil {
			return ParseMounts(name, data)
		}
		if first == nil {
			first = collectors.GapOf(name, err, "let this user read "+name)
		}
	}
	return nil, first
}
