package storage

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// close hands over what is left, as far as ctx allows, and ends the child.
func (c *client) close(ctx context.Context) error {
	err := c.drain(ctx)
	c.stop()
	c.mu.Lock()
	p := c.proc
	c.mu.Unlock()
	if p != nil {
		p.conn.Close() // the child sees the end, finishes and exits
	}
	if ctx.Err() != nil {
		var cancel func()
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), closeGrace)
		defer cancel()
	}
	select {
	case <-c.done:
	case <-ctx.Done(): // an earlier child hangs in the kernel
		return errors.Join(err, ctx.Err())
	}
	if p != nil {
		c.waitExit(ctx, p)
	}
	return err
}

// drain waits until all has been confirmed and synced.
func (c *client) drain(ctx context.Context) error {
	c.mu.Lock()
	l := c.link
	c.mu.Unlock()
	if l == nil {
		return errChild
	}
	for c.waiting(l) || l.note.Load() < c.outbox.end() {
		c.poke()
		select {
		case <-ctx.Done():
			return fmt.Errorf("not everything could be handed to the storage process: %w", ctx.Err())
		case <-l.dead:
			return errChild
		case <-time.After(10 * time.Millisecond):
		}
	}
	return l.ask(ctx, question{Topic: askSync, Timeout: answerWait}, nil)
}

// waitExit waits for the child to exit by itself, and kills it if ctx ends.
func (c *client) waitExit(ctx context.Context, p *process) {
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		if err := p.wait(); err != nil {
			c.opts.Logger.Debug("storage process", "error", err)
		}
	}()
	select {
	case <-exited:
	case <-ctx.Done():
		p.kill()
	}
}
