package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"stallmark/collectors"
)

// options is everything that can be set, on the command line or in the
// configuration file.
type options struct {
	config   string
	paths    collectors.Paths
	data     string
	interval time.Duration
	rules    []string
	watch    []string
	logs     []string
	json     bool
	markdown bool
	verbose  bool
	cost     bool
	scrape   time.Duration

	listen          string
	insecureListen  bool
	retention       time.Duration
	rollupRetention time.Duration
	maxBytes        int64
	noBurst         bool
	debug           bool
	pprof           string
	webConfig       string
	externalURL     string
	snapshotBefore  time.Duration
	snapshotAfter   time.Duration
	noAutoSnapshots bool

	duration time.Duration // --for
	output   string        // -o
	from, to string        // of a snapshot

	redactPaths bool
	zones       []string // --zone
	boot        string   // --boot
	told        told     // what --zone and --boot say

	set map[string]bool // named on the command line
}

// option is one row of the table: a name for the command line and for the
// configuration file.
type option struct {
	name  string
	arg   string // what stands for the value in help, empty for a switch
	help  string
	value flag.Value
	local bool // of the command line only
}

func newOptions() *options {
	return &options{
		paths:           collectors.Paths{Procfs: "/proc", Sysfs: "/sys", Rootfs: "/"},
		data:            defaultData(),
		interval:        time.Second,
		listen:          "127.0.0.1:8411",
		retention:       48 * time.Hour,
		rollupRetention: 30 * 24 * time.Hour,
		maxBytes:        2 << 30,
		snapshotBefore:  10 * time.Minute,
		snapshotAfter:   5 * time.Minute,
		set:             map[string]bool{},
	}
}

// installedData is where an installed service keeps its state.
const installedData = "/var/lib/stallmark"

// defaultData is where a service keeps its state, for root and for others.
func defaultData() string {
	if os.Geteuid() == 0 {
		return installedData
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".local", "state", "stallmark")
}

// global are the options of every command.
func (o *options) global() []option {
	return []option{
		{"config", "FILE", "YAML file with the same options under the same names", text(&o.config), true},
		{"procfs", "DIR", "where /proc of the host is", text(&o.paths.Procfs), false},
		{"sysfs", "DIR", "where /sys of the host is", text(&o.paths.Sysfs), false},
		{"rootfs", "DIR", "where / of the host is", text(&o.paths.Rootfs), false},
		{"data", "DIR", "folder for everything that is kept", text(&o.data), false},
		{"listen", "HOST:PORT", "address of the page", text(&o.listen), false},
		{"interval", "TIME", "time between beats, at least 100ms", (*period)(&o.interval), false},
		{"rules", "DIR", "folder with more signatures; may be repeated", (*list)(&o.rules), false},
		{"log", "FILE", "log to follow besides those of the brokers, * allowed; zone=, format= and kind= may follow after commas; may be repeated", (*list)(&o.logs), false},
		{"watch", "NAME|PID", "process to watch besides the brokers; may be repeated", (*list)(&o.watch), false},
	}
}

// table is all options of a command.
func (o *options) table(c command) []option {
	table := o.global()
	if c.options != nil {
		table = append(table, c.options(o)...)
	}
	return table
}

// fileTable is the options that the configuration file may have.
func (o *options) fileTable() []option { return o.table(serveCommand()) }

// noteSet remembers what the command line has named: it goes before the file.
func (o *options) noteSet(flags *flag.FlagSet) {
	flags.Visit(func(f *flag.Flag) { o.set[f.Name] = true })
}

// The kinds of values.
type (
	textValue struct{ to *string }
	period    time.Duration
	list      []string
	toggle    bool
	size      int64
)

func text(to *string) textValue { return textValue{to} }

// Set implements flag.Value.
func (v textValue) Set(s string) error { *v.to = s; return nil }

func (v textValue) String() string {
	if v.to == nil {
		return ""
	}
	return *v.to
}

// Set implements flag.Value.
func (v *period) Set(s string) error {
	d, err := time.ParseDuration(s)
	if days, ok := strings.CutSuffix(s, "d"); err != nil && ok {
		n, e := strconv.Atoi(days)
		d, err = time.Duration(n)*24*time.Hour, e
	}
	if err != nil || d <= 0 {
		return fmt.Errorf("want a time as in 1s, 15m, 48h or 30d")
	}
	*v = period(d)
	return nil
}

// String writes it as somebody would say it: 30d, 48h, 15m, 1.5s.
func (v *period) String() string {
	d := time.Duration(*v)
	switch {
	case d > 48*time.Hour && d%(24*time.Hour) == 0:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}

// Set implements flag.Value.
func (v *list) Set(s string) error { *v = append(*v, s); return nil }

func (v *list) String() string { return strings.Join(*v, ", ") }

// Set implements flag.Value.
func (v *toggle) Set(s string) error {
	b, err := strconv.ParseBool(s)
	if err != nil {
		return fmt.Errorf("want true or false")
	}
	*v = toggle(b)
	return nil
}

func (v *toggle) String() string { return strconv.FormatBool(bool(*v)) }

// IsBoolFlag lets package flag take the switch without a value.
func (v *toggle) IsBoolFlag() bool { return true }

// Set implements flag.Value.
func (v *size) Set(s string) error {
	units := []struct {
		suffix string
		factor int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}, {"", 1}}
	for _, u := range units {
		number, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err != nil || n <= 0 || n > (1<<62)/u.factor {
			break
		}
		*v = size(n * u.factor)
		return nil
	}
	return fmt.Errorf("want a size as in 512MiB or 2GiB")
}

func (v *size) String() string {
	n := int64(*v)
	switch {
	case n >= 1<<30 && n%(1<<30) == 0:
		return strconv.FormatInt(n>>30, 10) + "GiB"
	case n >= 1<<20 && n%(1<<20) == 0:
		return strconv.FormatInt(n>>20, 10) + "MiB"
	}
	return strconv.FormatInt(n, 10)
}
