package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// child is a program in a process group of its own, its output in a file.
type child struct {
	cmd  *exec.Cmd
	out  *os.File
	done chan struct{}
}

// start starts a program whose output goes to a file, after what is there.
func start(output, dir string, env []string, program string, args ...string) (*child, error) {
	out, err := os.OpenFile(output, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.Command(program, args...), out: out, done: make(chan struct{})}
	c.cmd.Dir, c.cmd.Stdout, c.cmd.Stderr = dir, out, out
	c.cmd.Env = append(os.Environ(), env...)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := c.cmd.Start(); err != nil {
		out.Close()
		return nil, err
	}
	go func() {
		_ = c.cmd.Wait() // how it ended is asked of ProcessState
		out.Close()
		close(c.done)
	}()
	return c, nil
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// ended reports whether it has ended.
func (c *child) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// stop ends it in an orderly way, or at once after the patience.
func (c *child) stop(patience time.Duration) {
	if c == nil {
		return
	}
	_ = c.cmd.Process.Signal(syscall.SIGCONT) // it may have been stopped, or have ended
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.done:
	case <-time.After(patience):
		_ = c.cmd.Process.Kill()
		<-c.done
	}
}

// listening waits until somebody listens at an address.
func listening(ctx context.Context, c *child, address string, patience time.Duration) error {
	for deadline := time.Now().Add(patience); ; {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			return conn.Close()
		}
		switch {
		case c.ended():
			return fmt.Errorf("%s ended at once: %s; see %s", c.cmd.Path, c.cmd.ProcessState, c.out.Name())
		case time.Now().After(deadline):
			return fmt.Errorf("nobody listens at %s after %s; see %s", address, patience, c.out.Name())
		}
		if err := pause(ctx, 300*time.Millisecond); err != nil {
			return err
		}
	}
}

// pause waits, or says that the lab is to end.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// tool runs a helper to its end and returns its output; an interrupt lets it put back what it changed.
func tool(ctx context.Context, program string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, program, args...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 30 * time.Second
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := c.CombinedOutput()
	if err != nil {
		text := strings.TrimSpace(string(out))
		return string(out), errors.Join(fmt.Errorf("%s %s: %w", program, strings.Join(args, " "), err), errors.New(text[max(0, len(text)-600):]))
	}
	return string(out), nil
}
