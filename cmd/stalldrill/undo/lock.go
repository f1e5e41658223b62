package undo

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Lock makes sure that one drill runs at a time: a second one would save the
// first one's settings as the machine's own. The lock is an abstract Unix
// socket, gone with the last process that holds the file.
func Lock(name string) (*os.File, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: name}); err != nil {
		unix.Close(fd)
		if errors.Is(err, unix.EADDRINUSE) {
			return nil, errors.New("another drill runs on this machine, or is being cleaned up")
		}
		return nil, fmt.Errorf("lock: %w", err)
	}
	return os.NewFile(uintptr(fd), "lock"), nil
}
