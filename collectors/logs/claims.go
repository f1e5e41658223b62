package logs

import "sync"

// claims make sure that a log is followed once, though two processes may write
// to, or be thought to write to, the same one.
type claims struct {
	mu    sync.Mutex
	owner map[claim]*folder
}

// claim is a stream by the folder that it is in.
type claim struct {
	inode
	base string
}

func newClaims() *claims { return &claims{owner: map[claim]*folder{}} }

// take reports whether a log is this folder's to follow.
func (c *claims) take(k claim, d *folder) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.owner[k]; o != nil {
		return o == d
	}
	c.owner[k] = d
	return true
}

// give gives one log back.
func (c *claims) give(k claim, d *folder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.owner[k] == d {
		delete(c.owner, k)
	}
}

// leave gives all of a folder's logs back.
func (c *claims) leave(d *folder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, o := range c.owner {
		if o == d {
			delete(c.owner, k)
		}
	}
}
