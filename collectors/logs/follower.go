package logs

import (
	"context"
	"path"
	"slices"
	"sync"
	"time"
)

// Config is what a [Follower] needs.
type Config struct {
	// Open makes the consumer of a log, before its first line.
	Open func(*File) Consumer
	// Close is told of the consumer of a log that is not followed any more. May be
	// nil.
	Close func(Consumer)
	// Files opens what targets with an owner name; nil where there are none.
	Files Files
	// Rootfs is where / of the host is, for targets without an owner.
	Rootfs string
	// Boot is when the host started, for stamps of the kernel that count from then.
	Boot time.Time
	// Now is the clock.
	Now func() time.Time
	// Saved are the positions of the last run.
	Saved []Position
	// Tap gets all bytes that are handed on, for a recording. It is called by
	// several goroutines and must copy what it keeps; live says that it was written
	// since the last look. May be nil.
	Tap func(f *File, part string, offset int64, data []byte, live bool)
	// Alert reports whether to look at idle files as often as at others. May be
	// nil.
	Alert func() bool
	// Rate is how many bytes a second are read at most, over all files;
	// 0 means DefaultRate.
	Rate int64
}

// DefaultRate bounds what following may cost in a storm, in bytes a second.
const DefaultRate = 64 << 20

// Follower follows the logs of its targets, a goroutine a folder.
type Follower struct {
	cfg     Config
	limit   *limiter
	claims  *claims
	started time.Time

	mu      sync.Mutex
	targets []Target
	running map[string]*running
	saved   []Position // of logs that no folder looks after
	wake    chan struct{}
}

// running is a folder that is looked after.
type running struct {
	folder *folder
	cancel context.CancelFunc
	echo   bool
	gone   time.Time // since when no target wants it, zero if one does
}

const (
	expandEvery = 10 * time.Second // folders with something wild in their path
	releaseIn   = time.Minute      // how long the logs of a process are read on after it has ended
	maxFolders  = 256
)

// New makes a follower. It opens nothing yet.
func New(cfg Config) *Follower {
	if cfg.Rate == 0 {
		cfg.Rate = DefaultRate
	}
	if cfg.Alert == nil {
		cfg.Alert = func() bool { return false }
	}
	return &Follower{
		cfg: cfg, limit: &limiter{rate: cfg.Rate, now: cfg.Now}, claims: newClaims(), running: map[string]*running{}, saved: cfg.Saved, wake: make(chan struct{}, 1),
	}
}

// SetTargets says what to follow from now on. It never waits.
func (f *Follower) SetTargets(targets []Target) {
	f.mu.Lock()
	f.targets = sorted(targets)
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Run follows until ctx ends. It returns when all folders have been left, but
// does not wait for one that hangs.
func (f *Follower) Run(ctx context.Context) {
	f.started = f.cfg.Now()
	var all sync.WaitGroup
	timer := time.NewTicker(expandEvery)
	defer timer.Stop()
	for {
		f.arrange(ctx, &all)
		select {
		case <-ctx.Done():
			waitFor(&all, leaveIn)
			return
		case <-timer.C:
		case <-f.wake:
		}
	}
}

// leaveIn is how long the end waits for folders.
const leaveIn = 500 * time.Millisecond

func waitFor(all *sync.WaitGroup, limit time.Duration) {
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// arrange begins and ends to look after folders.
func (f *Follower) arrange(ctx context.Context, all *sync.WaitGroup) {
	f.mu.Lock()
	targets := slices.Clone(f.targets)
	f.mu.Unlock()
	wanted := map[string]Target{}
	paths := map[string]string{}
	for _, t := range targets {
		for _, p := range f.expand(t) {
			at := t
			at.Folder = p
			wanted[at.key()], paths[at.key()] = t, p
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.cfg.Now()
	for key, t := range wanted {
		if r := f.running[key]; r != nil {
			r.gone = time.Time{}
			r.folder.adopt(t)
			continue
		}
		if len(f.running) < maxFolders {
			f.running[key] = f.begin(ctx, t, paths[key], all)
		}
	}
	for key, r := range f.running {
		if _, ok := wanted[key]; ok {
			continue
		}
		if r.gone.IsZero() {
			r.gone = now
		}
		if now.Sub(r.gone) >= releaseIn || r.echo {
			r.cancel()
			delete(f.running, key)
			if !r.echo { // what an echo said meanwhile was read elsewhere
				_, places, _ := r.folder.status()
				f.keep(places)
			}
		}
	}
}

func (f *Follower) begin(ctx context.Context, t Target, path string, all *sync.WaitGroup) *running {
	within, cancel := context.WithCancel(ctx)
	d := newFolder(&f.cfg, t, path, f.limit, f.started)
	d.claims = f.claims
	d.saved, f.saved = d.own(f.saved)
	all.Go(func() { d.run(within) })
	return &running{folder: d, cancel: cancel, echo: t.Echo}
}

// maxKept bounds the positions of logs that nobody looks after.
const maxKept = 2000

// keep takes the positions of a folder that is left, for when it is wanted again.
func (f *Follower) keep(places []Position) {
	f.saved = append(f.saved, places...)
	f.saved = f.saved[max(0, len(f.saved)-maxKept):]
}

func newFolder(cfg *Config, t Target, path string, limit *limiter, started time.Time) *folder {
	return &folder{
		cfg: cfg, target: t, path: path, now: cfg.Now, started: started, limit: limit,
		opener:  opener{cfg.Files, hostFiles{cfg.Rootfs}, t.Owner},
		streams: map[string]*stream{}, claims: newClaims(),
	}
}

// maxExpanded bounds what a path with something wild in it may come to.
const maxExpanded = 64

// expand lists the folders that a target's path means, at least one: what is
// not there yet is looked for again.
func (f *Follower) expand(t Target) []string {
	if !wild(t.Folder) {
		return []string{t.Folder}
	}
	o := opener{f.cfg.Files, hostFiles{f.cfg.Rootfs}, t.Owner}
	found := []string{"/"}
	parts := splitPath(t.Folder)
	for _, part := range parts {
		var next []string
		for _, at := range found {
			if !wild(part) {
				next = append(next, path.Join(at, part))
				continue
			}
			next = append(next, matching(o, at, part)...)
		}
		if found = next; len(found) > maxExpanded {
			found = found[:maxExpanded]
		}
	}
	if len(found) == 0 {
		return []string{t.Folder}
	}
	return found
}

// matching lists the names in a folder that fit a pattern, as paths.
func matching(o opener, folder, pattern string) []string {
	dir, err := o.openFolder(folder)
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(maxNames) //nolint:errcheck // what was listed counts
	slices.Sort(names)
	var found []string
	for _, n := range names {
		if ok, err := path.Match(pattern, n); err == nil && ok {
			found = append(found, path.Join(folder, n))
		}
	}
	return found
}

func splitPath(p string) []string {
	var parts []string
	for p != "/" && p != "." && p != "" {
		parts = append(parts, path.Base(p))
		p = path.Dir(p)
	}
	slices.Reverse(parts)
	return parts
}

// hangsAfter is how long a poll may take before its folder is said to hang.
const hangsAfter = 10 * time.Second

// Status tells how each log stands, in a fixed order, and which folders hang.
func (f *Follower) Status() (states []Status, hanging []string) {
	now := f.cfg.Now()
	for _, d := range f.folders() {
		of, _, since := d.status()
		states = append(states, of...)
		if !since.IsZero() && now.Sub(since) > hangsAfter {
			hanging = append(hanging, d.path)
		}
	}
	return states, hanging
}

// Positions is how far everything was read, to go on from.
func (f *Follower) Positions() []Position {
	var all []Position
	for _, d := range f.folders() {
		_, places, _ := d.status()
		all = append(all, places...)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return append(all, f.saved...)
}

func (f *Follower) folders() []*folder {
	f.mu.Lock()
	defer f.mu.Unlock()
	keys := make([]string, 0, len(f.running))
	for k := range f.running {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	list := make([]*folder, 0, len(keys))
	for _, k := range keys {
		list = append(list, f.running[k].folder)
	}
	return list
}
