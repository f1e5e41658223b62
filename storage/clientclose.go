package storage

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// close hands over what is left, as far as ctx allows, and ends the child. The
// error says how much is lost.
func (c *client) close(ctx context.Context) error {
	err := c.handOver(ctx)
	if err == nil {
		err = c.sync(ctx)
	}
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
	if p != nil {
		c.waitExit(ctx, p)
	}
	select {
	case <-c.done:
	case <-ctx.Done(): // an earlier child hangs in the kernel
	}
	return err
}

// handOver waits until all has been confirmed. A child that does not confirm it
// soon is killed, and the next one gets it: what it had confirmed is in the
// journal.
func (c *client) handOver(ctx context.Context) error {
	soon, cancel := context.WithTimeout(ctx, lastWait)
	defer cancel()
	if c.current() == nil {
		c.hasten()
	}
	err := c.confirmed(soon)
	if err == nil || ctx.Err() != nil {
		return err
	}
	c.mu.Lock()
	p := c.proc
	c.mu.Unlock()
	if p != nil {
		c.opts.Logger.Warn("the storage process does not take the last beats and is replaced")
		c.hasten()
		p.kill()
	}
	return c.confirmed(ctx)
}

// hasten lets the next child be started at once.
func (c *client) hasten() {
	select {
	case c.hurry <- struct{}{}:
	default:
	}
}

// confirmed waits until everything has been confirmed, by whichever child.
func (c *client) confirmed(ctx context.Context) error {
	for {
		if l := c.current(); l != nil {
			select {
			case l.got <- struct{}{}: // have the stream look again
			default:
			}
		}
		beats, notes := c.owing()
		if beats+notes == 0 {
			return nil
		}
		c.poke()
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d beats and %d events, facts and findings could not be handed to the storage process and are lost: %w", beats, notes, ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// sync waits until what has been confirmed would survive the machine as well. A
// disk that is too slow for that loses nothing as long as the machine runs: it
// is only logged.
func (c *client) sync(ctx context.Context) error {
	l := c.current()
	if l == nil {
		return nil
	}
	err := l.ask(ctx, question{Topic: askSync, Timeout: answerWait}, 0, nil)
	if errors.Is(err, errChild) || ctx.Err() != nil {
		c.opts.Logger.Warn("the last beats are in the journal, but the disk has not confirmed them in time")
		return nil
	}
	return err
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
