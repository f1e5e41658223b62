package drill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/cmd/stalldrill/host"
	"stallmark/cmd/stalldrill/undo"
	"stallmark/cmd/stalldrill/work"
)

// Config is how a drill is run.
type Config struct {
	Host    host.Host
	Dir     string        // its folder is made below this one
	For     time.Duration // of the drill itself
	Before  time.Duration // of the quiet time before it
	Limits  Limits
	Program string   // our own executable, for workers and the guard
	Lock    *os.File // see undo.Lock
	Log     func(format string, args ...any)
}

// GuardCommand is the subcommand that must call undo.RunGuard.
const GuardCommand = "guard"

const (
	// preparation may mean to write some GiB to a slow disk.
	preparePatience = 5 * time.Minute
	resultPatience  = 20 * time.Second
)

// run is one drill under way.
type run struct {
	config   Config
	mode     Mode
	facts    Facts
	plan     Plan
	journal  *undo.Journal
	guard    *undo.Guard
	group    string // folder of the victim's control group
	victim   *child
	children []*child
	result   Result
}

// Run carries out a mode. The error says why it did not come to the drill; a
// drill that was cut short is a result.
func Run(ctx context.Context, c Config, m Mode) (res Result, err error) {
	r := &run{config: c, mode: m}
	r.result = Result{Mode: m.Name, Truth: names(m.Truth), Also: names(m.Also), Harmless: m.Harmless}
	if err := r.plans(); err != nil {
		return r.result, err
	}
	if r.journal, err = undo.Create(c.Host, c.Dir); err != nil {
		return r.result, err
	}
	r.facts.Folder = r.journal.Folder()
	r.plan = m.Plan(r.facts)
	defer func() {
		r.finish()
		res = r.result
	}()
	guard := exec.Command(c.Program, GuardCommand, r.journal.Path())
	guard.Stderr = os.Stderr
	if r.guard, err = undo.StartGuard(guard, c.Lock); err != nil {
		return r.result, err
	}
	return r.result, r.act(ctx)
}

// names are never null in JSON.
func names(list []string) []string { return append([]string{}, list...) }

// plans surveys the machine and refuses what it cannot bear.
func (r *run) plans() (err error) {
	if r.facts, err = Survey(r.config.Host, r.mode, r.config.Dir, r.config.Limits); err != nil {
		return err
	}
	return r.mode.Plan(r.facts).check(r.facts)
}

// act is the drill from the first child to the last counter.
func (r *run) act(ctx context.Context) error {
	if err := r.setUp(ctx); err != nil {
		return err
	}
	quiet := &watch{r: r, waits: map[string]int{}}
	if cut := quiet.over(ctx, r.config.Before, 0); cut != "" {
		return errors.New(cut)
	}
	r.result.Prepared = time.Now().UTC()
	if err := errors.Join(r.victim.say(work.WordPrepare), r.apply(true)); err != nil {
		return err
	}
	if len(r.plan.Loads) > 0 {
		r.config.Log("%s: prepares, which may take a minute", r.mode.Name)
	}
	for _, spec := range r.plan.Loads {
		if err := r.start(ctx, spec); err != nil {
			return err
		}
	}
	if err := r.apply(false); err != nil {
		return err
	}
	r.config.Log("%s: begins for %v", r.mode.Name, r.config.For)
	return r.provoke(ctx)
}

// setUp makes what the victim needs, and starts it.
func (r *run) setUp(ctx context.Context) (err error) {
	spec := work.Spec{Name: VictimName, Nice: -10, OOM: 500, Tasks: r.plan.Victim}
	if len(r.plan.Limits) > 0 {
		r.group, err = r.journal.MakeGroup(r.facts.Group, r.mode.Group, strconv.Itoa(os.Getpid()))
		if err != nil {
			return err
		}
		spec.Groups = []string{r.group}
	}
	if r.plan.Swap > 0 {
		if err := r.swap(); err != nil {
			return err
		}
	}
	if err := r.start(ctx, spec); err != nil {
		return err
	}
	r.victim = r.children[0]
	r.result.VictimPid = r.victim.pid()
	r.config.Log("%s: victim is pid %d, quiet for %v", r.mode.Name, r.victim.pid(), r.config.Before)
	return nil
}

// start starts a worker and waits until it has prepared everything.
func (r *run) start(ctx context.Context, spec work.Spec) error {
	c, err := startChild(r.config.Program, spec)
	if c != nil {
		r.children = append(r.children, c)
		err = errors.Join(err, r.journal.AddChild(c.pid()))
	}
	if err != nil {
		return err
	}
	word, err := c.hear(ctx.Done(), preparePatience)
	if err == nil && word != work.WordReady {
		err = fmt.Errorf("%s says %q", spec.Name, word)
	}
	return err
}

// swap sets up a swap area: in memory where the kernel has zram, else a file.
func (r *run) swap() error {
	if r.facts.ZRAM {
		device, err := r.journal.ZRAM(r.plan.Swap)
		if err != nil {
			return err
		}
		return r.swapOn(device)
	}
	path := filepath.Join(r.journal.Folder(), "swap")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(unix.Fallocate(int(f.Fd()), 0, 0, r.plan.Swap), f.Close()); err != nil {
		return fmt.Errorf("swap file: %w", err)
	}
	return r.swapOn(path)
}

func (r *run) swapOn(path string) error {
	r.result.Settings = append(r.result.Settings, "swap on "+path+" of "+bytesText(r.plan.Swap))
	return r.journal.SwapOn(path, r.plan.Swap)
}

// apply makes the settings of the plan: the early ones, or the others.
func (r *run) apply(early bool) error {
	settings := slices.Clone(r.plan.Settings)
	for _, l := range r.plan.Limits {
		l.Path = filepath.Join(r.group, l.Path)
		settings = append(settings, l)
	}
	for _, s := range settings {
		if s.Early != early || s.absent() {
			continue
		}
		if err := r.set(s); err != nil {
			return err
		}
		r.result.Settings = append(r.result.Settings, s.Path+" = "+s.Value)
	}
	return nil
}

// set makes a setting. A memory limit is refused as busy while the group cannot
// be brought below it: its dirty pages must be written first.
func (r *run) set(s Setting) (err error) {
	if s.Back != "" {
		return r.journal.Order(s.Path, s.Value, s.Back)
	}
	for range 5 {
		if err = r.journal.Set(s.Path, s.Value); !errors.Is(err, unix.EBUSY) {
			return err
		}
	}
	return err
}

// provoke lets everything loose for the time of the drill.
func (r *run) provoke(ctx context.Context) error {
	disk, err := host.ReadDisk(r.config.Dir)
	if err != nil {
		return err
	}
	scope := host.Scope{Pid: r.victim.pid(), Device: disk.Device, Group: r.group}
	from := r.config.Host.ReadCounters(scope)
	r.result.Began = time.Now().UTC()
	for _, c := range r.children {
		if err := c.say(work.WordDrill); err != nil {
			return err
		}
	}
	w := &watch{r: r, waits: map[string]int{}}
	r.result.Cut = w.over(ctx, r.config.For, r.plan.Freeze)
	to := r.config.Host.ReadCounters(scope)
	r.result.Ended = time.Now().UTC()
	r.victim.stopWork()
	for _, c := range r.children[1:] {
		c.kill()
	}
	w.into(from, to)
	r.result.Waits, r.result.Samples = w.waits, w.samples
	r.result.Signs, r.result.Provoked = judge(r.mode.Signs, from, to, r.result.Ended.Sub(r.result.Began).Seconds())
	r.collect()
	return nil
}

// collect takes the victim's figures.
func (r *run) collect() {
	line, err := r.victim.hear(nil, resultPatience)
	var res work.Results
	if err == nil {
		err = json.Unmarshal([]byte(line), &res)
	}
	if err != nil {
		res.Errors = append(res.Errors, "the victim's figures: "+err.Error())
	}
	r.result.Victim = res.Rows
	if slow := r.mode.Slow; slow != nil {
		r.result.Signs = append(r.result.Signs, slow.judge(res.Rows))
		r.result.Provoked = r.result.Provoked && r.result.Signs[len(r.result.Signs)-1].Holds
	}
	r.result.Errors = append(r.result.Errors, res.Errors...)
}

// finish takes everything back, however far the drill came.
func (r *run) finish() {
	for _, c := range r.children {
		c.kill()
	}
	r.result.Restored = r.journal.Undo()
	if r.guard == nil {
		return
	}
	if err := r.guard.Done(); err != nil {
		r.result.Errors = append(r.result.Errors, fmt.Sprintf("the guard: %v", err))
	}
}
