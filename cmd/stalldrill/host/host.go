package host

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Host is where the kernel's trees are, and the name under which one drill at
// a time holds the machine.
type Host struct {
	Proc    string
	Sys     string
	Sysctls string // usually /proc/sys
	Lock    string // an abstract Unix socket: it vanishes with its last holder
}

// Live is the running machine.
func Live() Host { return Host{Proc: "/proc", Sys: "/sys", Sysctls: "/proc/sys", Lock: "@stalldrill"} }

// Sysctl is the path of a setting, as "vm/dirty_bytes".
func (h Host) Sysctl(name string) string { return filepath.Join(h.Sysctls, name) }

// Process is the path of a file of a process.
func (h Host) Process(pid int, name string) string {
	return filepath.Join(h.Proc, strconv.Itoa(pid), name)
}

// Read returns the content of a small file without surrounding white space.
func Read(path string) (string, error) {
	b, err := os.ReadFile(path)
	return strings.TrimSpace(string(b)), err
}

// Write puts a value into an existing file of /proc or /sys.
func Write(path, value string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}
