package drill

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/cmd/stalldrill/work"
)

// child is a worker process. It dies with us: by its input, which ends, and by
// the kernel's word, since one that is stopped reads nothing.
type child struct {
	spec  work.Spec
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string   // of its output
	gone  chan struct{} // closed when it has ended
}

// startChild starts a worker and hands it its specification.
func startChild(program string, spec work.Spec) (*child, error) {
	line, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, WorkCommand, spec.Name)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = theirs
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, ours.Close(), theirs.Close())
	}
	theirs.Close()
	c := &child{spec: spec, cmd: cmd, in: in, lines: make(chan string, 4), gone: make(chan struct{})}
	go c.listen(ours)
	return c, c.say(string(line))
}

// WorkCommand is the subcommand that must call work.Run.
const WorkCommand = "work"

func (c *child) listen(out *os.File) {
	defer out.Close()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 4*mib)
	for lines.Scan() {
		c.lines <- lines.Text()
	}
	close(c.lines)
	_ = c.cmd.Wait() // that it was killed is no news
	close(c.gone)
}

func (c *child) pid() int { return c.cmd.Process.Pid }

func (c *child) say(word string) error {
	switch _, err := io.WriteString(c.in, word+"\n"); {
	case errors.Is(err, unix.EPIPE), errors.Is(err, os.ErrClosed):
		return fmt.Errorf("%s ended too early", c.spec.Name)
	case err != nil:
		return fmt.Errorf("%s does not listen: %w", c.spec.Name, err)
	}
	return nil
}

// hear waits for a line; cancel ends the waiting.
func (c *child) hear(cancel <-chan struct{}, patience time.Duration) (string, error) {
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case line, ok := <-c.lines:
		if !ok {
			return "", fmt.Errorf("%s ended too early", c.spec.Name)
		}
		return line, nil
	case <-cancel:
		return "", errors.New("interrupted")
	case <-late.C:
		return "", fmt.Errorf("%s has said nothing for %v", c.spec.Name, patience)
	}
}

// stopWork lets the worker finish; it may still print its results.
func (c *child) stopWork() { c.in.Close() }

// kill ends the process and waits for the end. A thread may be deep in the
// kernel: then the journal waits longer.
func (c *child) kill() {
	_ = unix.Kill(c.pid(), unix.SIGKILL)
	select {
	case <-c.gone:
	case <-time.After(5 * time.Second):
	}
}
