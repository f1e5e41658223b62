package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"stallmark/storage/model"
	"stallmark/web/access"
)

func serveCommand() command {
	return command{
		name:    "serve",
		summary: "Watch this host and serve the page",
		help: `
The page is at http://127.0.0.1:8411; see it from a laptop with
  ssh -L 8411:127.0.0.1:8411 USER@HOST
SIGTERM or an interrupt ends it in an orderly way. SIGHUP reads the rules and
log patterns again, and the list of their folders in the configuration file.

Under pressure it samples every 100 ms for a while, at most 5 % of a CPU and 20 MB
a time, and rests afterwards.

Example of a configuration file (--config), all keys optional:
  interval: 1s
  data: /var/lib/stallmark
  retention: 48h            # of every sample
  rollup-retention: 30d     # of one-minute rollups
  max-bytes: 2GiB
  log: [/srv/app/*.log]     # besides those that the brokers are known to write
  watch: [my-broker, 4242]  # besides the brokers that are found by themselves
  rules: [/etc/stallmark/rules]`,
		options: func(o *options) []option {
			return []option{
				{"no-burst", "", "keep to --interval under pressure too", (*toggle)(&o.noBurst), false},
				{"insecure-listen", "", "allow an address that others can reach, without any authentication", (*toggle)(&o.insecureListen), false},
				{"web-config", "FILE", "Prometheus web configuration file: TLS and users with bcrypt hashes", text(&o.webConfig), false},
				{"external-url", "URL", "what links to snapshots begin with, as others reach this page", text(&o.externalURL), false},
				{"snapshot-before", "TIME", "how much before a critical incident its snapshot holds", (*period)(&o.snapshotBefore), false},
				{"snapshot-after", "TIME", "how much after it, and so how long after its end it is made", (*period)(&o.snapshotAfter), false},
				{"no-auto-snapshots", "", "freeze nothing by itself", (*toggle)(&o.noAutoSnapshots), false},
				{"debug", "", "log more about the recorder itself: each beat that was slow, and why", (*toggle)(&o.debug), false},
				{"pprof", "HOST:PORT", "serve profiles of this program there, on loopback and with the admin token only", text(&o.pprof), false},
				{"retention", "TIME", "how long every sample is kept", (*period)(&o.retention), false},
				{"rollup-retention", "TIME", "how long one-minute rollups are kept", (*period)(&o.rollupRetention), false},
				{"max-bytes", "SIZE", "how large the data file may become", (*size)(&o.maxBytes), false},
			}
		},
		run: runServe,
	}
}

func runServe(ctx context.Context, p *program, o *options, args []string) (int, error) {
	if len(args) > 0 {
		return exitUsage, usagef("serve takes no arguments")
	}
	guard, err := o.loadWebConfig()
	if err != nil {
		return exitUsage, err
	}
	if err := errors.Join(checkListen(o, guard), checkExternal(o), checkPprof(o)); err != nil {
		return exitUsage, err
	}
	if err := makeData(o.data); err != nil {
		return exitUsage, err
	}
	listener, err := net.Listen("tcp", o.listen)
	if err != nil {
		return exitUsage, err
	}
	profiles, err := openPprof(o)
	if err != nil {
		return exitUsage, errors.Join(err, listener.Close())
	}
	if profiles != nil {
		defer profiles.Close()
		admin, err := access.NewAdmin(o.data)
		if err != nil {
			return exitUsage, errors.Join(err, listener.Close())
		}
		go serveProfiles(profiles, admin)
	}
	s := &service{
		program: p, options: o, listener: listener, guard: guard,
		log: o.newLog(p.stderr), announced: map[string]model.FindingState{},
	}
	if s.hangups == nil {
		hangups := make(chan os.Signal, 1)
		signal.Notify(hangups, unix.SIGHUP)
		defer signal.Stop(hangups)
		s.hangups = hangups
	}
	if err := s.run(ctx); err != nil {
		return exitUsage, err
	}
	return exitOK, nil
}

// newLog makes the log of the service itself.
func (o *options) newLog(to io.Writer) *slog.Logger {
	level := slog.LevelInfo
	if o.debug {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: level}))
}

// makeData makes the data folder for this user alone.
func makeData(dir string) error {
	if dir == "" {
		return usagef("no home folder: say where to keep data with --data DIR")
	}
	unix.Umask(0o077)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("data folder: %w; choose another with --data DIR", err)
	}
	return nil
}
