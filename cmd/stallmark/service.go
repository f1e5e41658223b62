package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"stallmark/collectors"
	"stallmark/collectors/pagecache"
	"stallmark/collectors/trace"
	"stallmark/rules"
	"stallmark/storage"
	"stallmark/storage/model"
	"stallmark/web"
	"stallmark/web/access"
)

// The budget of an orderly end: a supervisor's patience is not endless, and
// SIGTERM promises 2 s.
const (
	stopHTTP    = 300 * time.Millisecond
	stopSampler = 500 * time.Millisecond
	stopStore   = time.Second
)

// restoreSpan is how far back findings that were still firing are looked for.
const restoreSpan = time.Hour

// service is a running "stallmark serve".
type service struct {
	*program
	options  *options
	listener net.Listener
	guard    *access.Config // who may read
	log      *slog.Logger

	started time.Time
	lacks   protection
	machine machine
	store   *storage.Store
	view    slowView // of the store, for the rules
	judging atomic.Pointer[judging]
	stepper *stepper
	flight  *flight // nil without bursts
	waits   *trace.Source
	cache   *pagecache.Source
	judged  int64 // number of the interval that was judged last

	baselines     *rules.Baselines
	keptBaselines uint64 // their version that the store has

	shares    *shares
	announced map[string]model.FindingState // of findings that have not ended
}

// run serves until ctx ends or something fails.
func (s *service) run(ctx context.Context) error {
	s.lacks = protect(s.options.pprof != "")
	s.started = s.now().UTC()
	root := liveRoot(s.options)
	s.machine = thisMachine(s.options, root)
	if err := s.openStore(ctx); err != nil {
		return errors.Join(err, s.listener.Close())
	}
	server, err := s.newServer()
	if err != nil {
		return errors.Join(err, s.closeStore(), s.listener.Close())
	}
	sampler, err := s.newSampler(root)
	if err != nil {
		return errors.Join(err, s.closeStore(), s.listener.Close())
	}
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	served := make(chan error, 1)
	go func() { served <- s.serveHTTP(server) }()
	sampled := make(chan error, 1)
	go func() { sampled <- sampler.Run(background) }()
	var others sync.WaitGroup
	others.Go(func() { s.stepper.run(background) })
	others.Go(func() { nowAndThen(background, s.shrink) })
	others.Go(func() { s.machine.logs.runSaving(background, stateFile(s.options.data), s.log) })
	if s.flight != nil {
		others.Go(func() { s.flight.run(background) })
	}
	s.greet()
	failed := s.wait(ctx, served, sampled)
	beats := sampler.Punctuality()
	s.log.Info("stopping", "beats", beats.Beats, "lost", beats.Lost, "unanswered", beats.Unanswered,
		"late_p50", beats.P50, "late_p99", beats.P99, "late_max", beats.Max)
	return errors.Join(failed, s.stop(server, cancel, &others))
}

// wait reloads at each SIGHUP until ctx ends or something fails.
func (s *service) wait(ctx context.Context, served, sampled <-chan error) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-served:
			return err
		case err := <-sampled:
			return err
		case <-s.hangups:
			s.stepper.do(s.reload)
		}
	}
}

// stop ends everything within the budget.
func (s *service) stop(server *http.Server, cancel context.CancelFunc, others *sync.WaitGroup) error {
	limited, done := context.WithTimeout(context.Background(), stopHTTP)
	defer done()
	if server.Shutdown(limited) != nil {
		server.Close() //nolint:errcheck // the connections that were left are cut
	}
	cancel()
	if !within(stopSampler, others.Wait) {
		s.log.Warn("the rules are still busy; stopping without their last judgement")
	}
	closed := make(chan error, 1)
	go func() { closed <- s.closeStore() }()
	within(stopStore, s.waits.Close) // the kernel does it too if there is no time
	s.closeShares()
	return <-closed
}

// within does something and reports whether it was done in time.
func within(limit time.Duration, do func()) bool {
	done := make(chan struct{})
	go func() { do(); close(done) }()
	select {
	case <-done:
		return true
	case <-time.After(limit):
		return false
	}
}

// openStore opens the data file in its own process and brings back what was
// firing.
func (s *service) openStore(ctx context.Context) error {
	store, err := storage.Open(ctx, storage.Options{
		Path: dataFile(s.options.data), Interval: s.options.interval,
		Retention: s.options.retention, RollupRetention: s.options.rollupRetention, MaxBytes: s.options.maxBytes,
		Now: s.now, Logger: s.log, Child: childOf(s.options.data),
	})
	if err != nil {
		return fmt.Errorf("%s: %w", dataFile(s.options.data), err)
	}
	s.store = store
	s.view = slowView{available{store}, s.options.interval}
	s.restoreBaselines(ctx)
	j := s.newJudging(s.options.rules)
	s.judging.Store(j)
	s.stepper = newStepper(s.judge)
	now := s.now()
	known, err := store.FindingsIn(ctx, now.Add(-restoreSpan), now) // the stall of one that fires may be over
	if err != nil {
		s.log.Warn("findings of the last run could not be read", "error", err)
		return nil
	}
	var open []model.Finding
	for _, f := range known {
		if f.State == model.StateFiring {
			open = append(open, f)
			s.announced[f.ID] = f.State
		}
	}
	j.engine.Restore(open)
	return nil
}

func (s *service) closeStore() error {
	limited, done := context.WithTimeout(context.Background(), stopStore)
	defer done()
	return s.store.Close(limited)
}

func (s *service) newSampler(root collectors.Root) (*collectors.Sampler, error) {
	var sink collectors.Sink = s.store
	var extra []collectors.Source
	if !s.options.noBurst && s.options.interval > collectors.MinInterval {
		s.flight = newFlight(flightConfig{s.options, s.machine, root, s.now, s.store, s.cost, s.log})
		s.machine.alert = s.flight.burst.Active
		sink = s.flight.sink
		extra = append(extra, s.flight.burst)
	}
	extra = append(extra, newSelfSource(s.machine.pageSize, s.lacks, s.storePID), newBaselineSource(s.baselines),
		newQuietSource(func(at time.Time) []rules.QuietValue { return s.judging.Load().engine.Quiet(at) }))
	s.machine.logs = s.followLogs(s.options, s.machine, root, s.savedLogs())
	var sources []collectors.Source
	sources, s.waits, s.cache = s.machine.traced()
	sampler, err := collectors.New(collectors.Config{
		Root: root, Sources: append(sources, extra...), Sink: sink, Interval: s.options.interval, Now: s.now,
		AfterBeat: func(_ context.Context, at time.Time) { s.afterBeat(at) },
		Slow:      func(b collectors.Slow) { s.log.Debug("slow beat", "beat", b) },
	})
	if s.flight != nil {
		s.flight.sampler = sampler
	}
	return sampler, err
}

// afterBeat has the first beat of each interval judged. Only the sampler calls
// it.
func (s *service) afterBeat(at time.Time) {
	if slot := s.view.slotOf(at.UnixMilli()); slot != s.judged {
		s.judged = slot
		s.stepper.poke(at)
	}
}

func (s *service) storePID() int { return s.store.Status().ChildPID }

// cost is the CPU time that our processes have spent so far.
func (s *service) cost() time.Duration {
	own, _ := cpuTime(0)
	if pid := s.storePID(); pid != 0 {
		if child, err := cpuTime(pid); err == nil { // it may just have ended
			own += child
		}
	}
	return own
}

func (s *service) newServer() (*http.Server, error) {
	seen := available{s.store}
	b := &backend{available: seen, Query: rules.NewQuery(seen, s.options.interval), service: s}
	cfg := web.Config{
		Backend:      b,
		Audit:        b.audit,
		PageCache:    dataFiles{s},
		Logs:         followedLogs{s},
		Baselines:    s.baselines.Save,
		Costs:        func() []rules.Cost { return s.judging.Load().engine.Costs() },
		Host:         s.machine.hostname,
		Version:      s.version,
		Interval:     s.options.interval,
		AllowedHosts: allowedHosts(s.options.listen, s.machine.hostname, s.options.externalURL),
		Triage:       s.triageUploads,
		Now:          s.now,
		Logger:       s.log,
	}
	s.openShares()
	if err := s.share(&cfg); err != nil {
		return nil, err
	}
	handler, err := web.New(cfg)
	if err != nil {
		return nil, err
	}
	server := boundedServer(handler)
	server.ErrorLog = slog.NewLogLogger(s.log.Handler(), slog.LevelDebug)
	return server, s.encrypt(server)
}

// encrypt sets what the web configuration file says of the connections.
func (s *service) encrypt(server *http.Server) (err error) {
	if s.guard.TLS != nil {
		server.TLSConfig, err = s.guard.TLS.Config()
	}
	if h2 := s.guard.HTTP.HTTP2; h2 != nil && !*h2 {
		server.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
	}
	next := server.Handler
	if len(s.guard.HTTP.Headers) > 0 {
		server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for name, value := range s.guard.HTTP.Headers {
				w.Header().Set(name, value)
			}
			next.ServeHTTP(w, r)
		})
	}
	return err
}

// serveHTTP serves until the server is shut down.
func (s *service) serveHTTP(server *http.Server) error {
	listener := boundedListener(s.listener)
	if server.TLSConfig != nil {
		return server.ServeTLS(listener, "", "")
	}
	return server.Serve(listener)
}

// greet says where the page is and how to see it from elsewhere.
func (s *service) greet() {
	address := s.listener.Addr().String()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		host, port = address, ""
	}
	base := "http://" + address
	if s.guard.TLS != nil {
		base = "https://" + address
	}
	fmt.Fprintf(s.stdout, "stallmark %s: %s\n%s", oneLine(s.version), base, s.adminLine(base))
	if ip := net.ParseIP(host); ip == nil || ip.IsLoopback() {
		fmt.Fprintf(s.stdout, "from a laptop: ssh -L %s:%s user@%s, then http://127.0.0.1:%s\n", port, address, oneLine(s.machine.hostname), port)
	}
}
