package pagecache

import "time"

// Config is what the source needs. Zero values get the defaults in brackets.
type Config struct {
	// Files opens the data files. Nil on a recording, which holds no page cache.
	Files Opener
	// Brokers are the watched processes at present. It is asked every beat.
	Brokers  func() []Broker
	PageSize int              // bytes
	Now      func() time.Time // the clock; time.Now on a live host

	Every    time.Duration // from one pass to the next [30 s]
	Budget   time.Duration // of work in a second of a pass [20 ms]; on average it is 1 % of the time at most
	MaxFiles int           // looked at in a pass [256]
	MaxBytes int64         // length of these files together [256 GiB]
	Recent   time.Duration // files written in this time are recent [10 min]
	// Alert reports whether to look more often, as in a burst: every 5 s. Nil
	// means never.
	Alert func() bool
}

func (c *Config) setDefaults() {
	if c.Every <= 0 {
		c.Every = 30 * time.Second
	}
	if c.Budget <= 0 {
		c.Budget = 20 * time.Millisecond
	}
	if c.MaxFiles <= 0 {
		c.MaxFiles = 256
	}
	if c.MaxBytes <= 0 {
		c.MaxBytes = 256 << 30
	}
	if c.Recent <= 0 {
		c.Recent = 10 * time.Minute
	}
	if c.Brokers == nil {
		c.Brokers = func() []Broker { return nil }
	}
	if c.Alert == nil {
		c.Alert = func() bool { return false }
	}
}
