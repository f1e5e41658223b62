package burst

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// The rule of the triggers, and of the watch that stands in for them. The kernel
// takes windows of 500 ms to 10 s and looks ten times in each.
//
// Since 6.5 anybody may set triggers, but without CAP_SYS_RESOURCE only with
// windows of whole 2 s, looked at every 2 s. Those are of no use here: they are
// slower than the watch, and wrong at first (measured on 6.18: two fire after
// they are set, however calm the host).
const (
	psiThreshold = 150 * time.Millisecond
	psiWindow    = time.Second
)

// triggerText is what is written into the file. The kernel overwrites the last
// byte with its own terminator: without the newline the window loses its last
// digit (measured: a window of 1 s is refused as one of 100 ms).
func triggerText() string {
	return fmt.Sprintf("some %d %d\n", psiThreshold.Microseconds(), psiWindow.Microseconds())
}

// psiResources are the files below pressure/ that are watched.
var psiResources = [...]string{"io", "memory"}

// kernel holds triggers that the kernel watches. The kernel drops them when
// the files are closed, with the process at the latest.
type kernel struct {
	polls []unix.PollFd // one a resource, then the event that ends the wait
}

// openKernel sets triggers on pressure/io and pressure/memory below procfs.
func openKernel(procfs string) (*kernel, error) {
	k := &kernel{}
	for _, what := range psiResources {
		fd, err := setTrigger(filepath.Join(procfs, "pressure", what))
		if err != nil {
			k.release()
			return nil, fmt.Errorf("PSI trigger on %s: %w", what, err)
		}
		k.polls = append(k.polls, unix.PollFd{Fd: int32(fd), Events: unix.POLLPRI})
	}
	end, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		k.release()
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	k.polls = append(k.polls, unix.PollFd{Fd: int32(end), Events: unix.POLLIN})
	return k, nil
}

// errCoarse says that the kernel takes only windows of whole 2 s from us.
var errCoarse = errors.New("without CAP_SYS_RESOURCE the kernel judges pressure only every 2 s")

// setTrigger opens a PSI file and writes the rule into it.
func setTrigger(path string) (int, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if _, err = unix.Write(fd, []byte(triggerText())); err == nil {
		return fd, nil
	}
	unix.Close(fd)
	if errors.Is(err, unix.EINVAL) {
		err = errCoarse
	}
	return -1, err
}

// errEnded says that the wait was ended by stop.
var errEnded = errors.New("ended")

// wait blocks its thread until a trigger fires; the kernel fires each at most
// once a window for as long as pressure lasts.
func (k *kernel) wait() (Cause, error) {
	for {
		_, err := unix.Poll(k.polls, -1)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return Cause{}, fmt.Errorf("poll PSI triggers: %w", err)
		}
		if k.polls[len(psiResources)].Revents != 0 {
			return Cause{}, errEnded
		}
		for i, what := range psiResources {
			if k.polls[i].Revents&(unix.POLLERR|unix.POLLNVAL) != 0 {
				return Cause{}, fmt.Errorf("PSI trigger on %s is gone", what)
			}
			if k.polls[i].Revents&unix.POLLPRI != 0 {
				return Cause{What: what, Text: fmt.Sprintf(
					"%s: tasks stalled over %d ms in %d ms", what, psiThreshold.Milliseconds(), psiWindow.Milliseconds(),
				)}, nil
			}
		}
	}
}

// stop ends a wait that is under way, and every later one.
func (k *kernel) stop() {
	one := [8]byte{1} // any number but 0, in either byte order
	_, _ = unix.Write(int(k.polls[len(k.polls)-1].Fd), one[:])
}

// release closes the files. No wait may be under way.
func (k *kernel) release() {
	for _, p := range k.polls {
		unix.Close(int(p.Fd))
	}
}
