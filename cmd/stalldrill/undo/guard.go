package undo

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"stallmark/cmd/stalldrill/host"
)

// The words between a drill and its guard.
const (
	wordReady = "ready"
	wordDone  = "done"
)

// guardFd is the guard's end of the pipe: the first extra file.
const guardFd = 3

// Guard is a process of our own program, in a session of its own, that undoes a
// journal if we end without having said that it is done.
type Guard struct {
	cmd  *exec.Cmd
	pipe *os.File
	gone chan struct{}
	err  error
}

// StartGuard starts the command, which must call RunGuard with the journal's
// path, and waits until it is ready. It also holds the lock, so that no other
// drill begins before the restore is over.
func StartGuard(cmd *exec.Cmd, lock *os.File) (*Guard, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	ready, err := cmd.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	cmd.ExtraFiles = []*os.File{theirs, lock}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("guard: %w", err), ours.Close())
	}
	word, _ := bufio.NewReader(ready).ReadString('\n')
	g := &Guard{cmd: cmd, pipe: ours, gone: make(chan struct{})}
	go func() {
		g.err = cmd.Wait()
		close(g.gone)
	}()
	if word != wordReady+"\n" {
		return nil, errors.Join(errors.New("the guard did not start"), g.Done())
	}
	return g, nil
}

// Gone is closed when the guard ends; before Done nobody guards any more.
func (g *Guard) Gone() <-chan struct{} { return g.gone }

// Done tells the guard that all is restored, and waits for its end.
func (g *Guard) Done() error {
	_, err := io.WriteString(g.pipe, wordDone)
	err = errors.Join(err, g.pipe.Close())
	<-g.gone
	return errors.Join(err, g.err)
}

// RunGuard is the guard's life: it waits for the word or the end of the drill,
// and undoes the journal if the word did not come. What it does is told on log.
func RunGuard(h host.Host, state string, log io.Writer) error {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	_ = host.Write(filepath.Join(h.Proc, "self/comm"), "drill-guard")
	_ = host.Write(filepath.Join(h.Proc, "self/oom_score_adj"), "-900") // refused without privilege
	LockPages()
	pipe := os.NewFile(guardFd, "drill")
	fmt.Println(wordReady)
	word, err := io.ReadAll(pipe)
	if string(word) == wordDone {
		return nil
	}
	if err != nil {
		fmt.Fprintf(log, "stalldrill guard: %v\n", err)
	}
	entries, err := Read(state)
	if err != nil {
		return err
	}
	out := Undo(h, entries)
	fmt.Fprintf(log, "stalldrill guard: the drill was killed; restored %d things\n", len(out.Done))
	for _, p := range out.Problems {
		fmt.Fprintf(log, "stalldrill guard: NOT restored: %s\n", p)
	}
	if len(out.Problems) > 0 {
		return errors.New("not everything could be restored")
	}
	return nil
}

// LockPages keeps the pages of this process in memory once it has touched them,
// so that it does not wait for what it watches. Without privilege it is refused,
// and the process does without.
func LockPages() {
	_ = unix.Mlockall(unix.MCL_CURRENT | unix.MCL_FUTURE | unix.MCL_ONFAULT)
}
