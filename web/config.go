package web

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"stallmark/rules"
	"stallmark/rules/audit"
	"stallmark/web/access"
)

// Config is what [New] needs.
type Config struct {
	Backend  Backend
	Host     string        // the watched host's name, shown in the head of every page
	Version  string        // of Stallmark
	Interval time.Duration // between beats; 0 means 1 s
	// AllowedHosts are the names and addresses, without port, by which the page
	// may be asked for besides the loopback ones: a defence against DNS
	// rebinding, where a foreign name resolves to this machine.
	AllowedHosts []string
	Now          func() time.Time // the clock
	Logger       *slog.Logger     // nil: no log
	Timeout      time.Duration    // for one request; 0 means 10 s
	// Audit judges the settings as they were at a time; nil: there is no audit.
	Audit func(ctx context.Context, at time.Time) ([]audit.Result, error)
	// PageCache knows what is in memory; nil: nobody looks.
	PageCache PageCache
	// Logs knows what is recognised in logs; nil: nobody follows any.
	Logs Logs
	// Costs is what judging each signature costs; nil: nobody counts.
	Costs func() []rules.Cost
	// Shares are the snapshots; nil: nothing can be frozen.
	Shares *Shares
	// Triage judges texts that somebody gives; nil: there is no such page.
	Triage Triage
	// Admin knows who may change something; nil: nobody.
	Admin *access.Admin
	// Basic asks who wants to read; nil: reading is open.
	Basic *access.Basic
	// Secure says that the page is reached by HTTPS.
	Secure bool
	// Baselines is what was learned of hours without findings, as JSON; nil:
	// nothing is learned.
	Baselines func() ([]byte, error)
}

func (c *Config) complete() error {
	if c.Backend == nil {
		return errors.New("web: no backend")
	}
	if c.Now == nil {
		return errors.New("web: no clock")
	}
	if c.Interval <= 0 {
		c.Interval = time.Second
	}
	if c.Timeout <= 0 {
		c.Timeout = 10 * time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}
