package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/collectors"
	"stallmark/rules"
	"stallmark/storage"
	"stallmark/storage/model"
	"stallmark/web"
)

// The budget of an orderly end: a supervisor's patience is not endless, and
// SIGTERM promises 2 s.
const (
	stopHTTP    = 300 * time.Millisecond
	stopSampler = 500 * time.Millisecond
	stopStore   = time.Second
)

func serveCommand() command {
	return command{
		name:    "serve",
		summary: "Watch this host and serve the page",
		help: `
The page is at http://127.0.0.1:8411; see it from a laptop with
  ssh -L 8411:127.0.0.1:8411 USER@HOST
SIGTERM or an interrupt ends it in an orderly way.

Example of a configuration file (--config), all keys optional:
  interval: 1s
  data: /var/lib/stallmark
  retention: 48h            # of every sample
  rollup-retention: 30d     # of one-minute rollups
  max-bytes: 2GiB
  watch: [my-broker, 4242]  # besides the brokers that are found by themselves
  rules: [/etc/stallmark/rules]`,
		options: func(o *options) []option {
			return []option{
				{"insecure-listen", "", "allow an address that others can reach, without any authentication", (*toggle)(&o.insecureListen), false},
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
	if err := checkListen(o); err != nil {
		return exitUsage, err
	}
	if err := makeData(o.data); err != nil {
		return exitUsage, err
	}
	listener, err := net.Listen("tcp", o.listen)
	if err != nil {
		return exitUsage, err
	}
	s := &service{
		program: p, options: o, listener: listener,
		log: slog.New(slog.NewTextHandler(p.stderr, nil)), announced: map[string]model.FindingState{},
	}
	if err := s.run(ctx); err != nil {
		return exitUsage, err
	}
	return exitOK, nil
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

// service is a running "stallmark serve".
type service struct {
	*program
	options  *options
	listener net.Listener
	log      *slog.Logger
	started  time.Time

	machine  machine
	pack     *rules.Pack
	problems []rules.Problem
	store    *storage.Store
	engine   *rules.Engine
	stepper  *stepper

	announced map[string]model.FindingState // by id, of the findings that are open
}

// run serves until ctx ends and stops in the order that loses nothing: no more
// requests, no more beats, the last judgement, then the store.
func (s *service) run(ctx context.Context) error {
	lockMemory(s.log)
	s.started = s.now().UTC()
	root := collectors.NewLiveRoot(s.options.paths)
	s.machine = thisMachine(s.options, root)
	if err := s.openStore(ctx); err != nil {
		return errors.Join(err, s.listener.Close())
	}
	server, err := s.newServer()
	if err != nil {
		return errors.Join(err, s.closeStore(), s.listener.Close())
	}
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	sampler, err := s.newSampler(root)
	if err != nil {
		return errors.Join(err, s.closeStore(), s.listener.Close())
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(s.listener) }()
	sampled := make(chan error, 1)
	go func() { sampled <- sampler.Run(background) }()
	stepped := make(chan struct{})
	go func() { s.stepper.run(background); close(stepped) }()
	s.greet()

	var failed error
	select {
	case <-ctx.Done():
	case failed = <-served:
	case failed = <-sampled:
	}
	s.log.Info("stopping")
	return errors.Join(failed, s.stop(server, cancel, stepped))
}

// stop ends everything within the budget.
func (s *service) stop(server *http.Server, cancel context.CancelFunc, stepped <-chan struct{}) error {
	limited, done := context.WithTimeout(context.Background(), stopHTTP)
	defer done()
	if server.Shutdown(limited) != nil {
		server.Close() //nolint:errcheck // the connections that were left are cut
	}
	cancel()
	select {
	case <-stepped:
	case <-time.After(stopSampler):
		s.log.Warn("the rules are still busy; stopping without their last judgement")
	}
	return s.closeStore()
}

// openStore opens the data file in its own process and brings back what was
// firing.
func (s *service) openStore(ctx context.Context) error {
	pack, problems := rules.Load(s.options.rules...)
	s.pack, s.problems = pack, rules.Mistakes(problems)
	for _, problem := range s.problems {
		s.log.Warn("rules: " + oneLine(problem.String()))
	}
	store, err := storage.Open(ctx, storage.Options{
		Path: dataFile(s.options.data), Interval: s.options.interval,
		Retention: s.options.retention, RollupRetention: s.options.rollupRetention, MaxBytes: s.options.maxBytes,
		Now: s.now, Logger: s.log, Child: childOf(s.options.data),
	})
	if err != nil {
		return fmt.Errorf("data file: %w", err)
	}
	s.store = store
	s.engine = rules.NewEngine(s.pack, store, s.options.interval)
	s.stepper = newStepper(s.judge)
	now := s.now()
	known, err := store.FindingsIn(ctx, now, now)
	if err != nil {
		s.log.Warn("findings of the last run could not be read", "error", err)
		return nil
	}
	var open []model.Finding
	for _, f := range known {
		if f.State != model.StateResolved {
			open = append(open, f)
		}
	}
	s.engine.Restore(open)
	return nil
}

func (s *service) closeStore() error {
	limited, done := context.WithTimeout(context.Background(), stopStore)
	defer done()
	return s.store.Close(limited)
}

func (s *service) newSampler(root collectors.Root) (*collectors.Sampler, error) {
	return collectors.New(collectors.Config{
		Root: root, Sources: s.machine.sources(), Sink: s.store, Interval: s.options.interval, Now: s.now,
		AfterBeat: func(_ context.Context, at time.Time) { s.stepper.poke(at) },
	})
}

// judge lets the rules look at one beat and keeps what they found.
func (s *service) judge(ctx context.Context, at time.Time) {
	found, err := s.engine.Step(ctx, at)
	for _, f := range found {
		s.store.PutFinding(f)
		s.announce(f)
	}
	if err != nil && ctx.Err() == nil {
		s.log.Warn("rules", "error", err)
	}
}

// announce logs a finding that has begun or ended, not every refresh of its
// evidence. Only the stepper calls it.
func (s *service) announce(f model.Finding) {
	if f.State == s.announced[f.ID] {
		return
	}
	s.announced[f.ID] = f.State
	if f.State == model.StateResolved {
		delete(s.announced, f.ID)
	}
	s.log.Info("finding", "signature", f.Signature, "state", f.State, "confidence", f.Confidence, "started", f.Started.Format(time.RFC3339), "id", f.ID)
}

func (s *service) newServer() (*http.Server, error) {
	handler, err := web.New(web.Config{
		Backend:      &backend{Store: s.store, Query: s.engine.Query(), Engine: s.engine, service: s},
		Host:         s.machine.hostname,
		Version:      s.version,
		Interval:     s.options.interval,
		AllowedHosts: allowedHosts(s.options.listen, s.machine.hostname),
		Now:          s.now,
		Logger:       s.log,
	})
	if err != nil {
		return nil, err
	}
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}, nil
}

// greet says where the page is and how to see it from elsewhere.
func (s *service) greet() {
	address := s.listener.Addr().String()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		host, port = address, ""
	}
	fmt.Fprintf(s.stdout, "stallmark %s: http://%s\n", oneLine(s.version), address)
	if ip := net.ParseIP(host); ip == nil || ip.IsLoopback() {
		fmt.Fprintf(s.stdout, "from a laptop: ssh -L %s:%s user@%s, then http://127.0.0.1:%s\n", port, address, oneLine(s.machine.hostname), port)
	}
}
