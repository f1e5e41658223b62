package storage

import (
	"context"
	"errors"
	"net"
	"os/exec"
	"syscall"
)

// process is a child process. Tests have others.
type process struct {
	conn net.Conn
	kill func()
	wait func() error
	pid  int
}

// spawn starts the child process.
func (c *client) spawn() (*process, error) {
	if c.opts.spawn != nil {
		return c.opts.spawn()
	}
	conn, theirs, err := socketpair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd := c.opts.Child(context.WithoutCancel(c.ctx))
	cmd.ExtraFiles = append(cmd.ExtraFiles, theirs)
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true // an interrupt from the terminal is for the parent
	if cmd.Stderr == nil {
		cmd.Stderr = &lineLogger{log: c.opts.Logger}
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &process{conn: conn, kill: func() { cmd.Process.Kill() }, wait: waitFor(cmd), pid: cmd.Process.Pid}, nil
}

func waitFor(cmd *exec.Cmd) func() error { return cmd.Wait }
