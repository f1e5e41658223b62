package pasted

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Options say what a text does not.
type Options struct {
	Zone     *time.Location // of times without one; UTC if nil
	PageSize int            // bytes; 4096 if 0
	Boot     time.Time      // when the host started, for kernel lines that count from then; zero: not known
}

// Text is what one text was understood to be.
type Text struct {
	Name  string
	Lines int
	Parts []*Part
	Left  []Left   // what belongs to no part: logs, prose
	Notes []string // remarks about all of it
}

// Left is a run of lines that no format claims.
type Left struct {
	From, To int // lines, counted from 1
	Text     []string
}

// Read takes a text apart. It never fails: what it does not know is left over.
func Read(name string, data []byte, o Options) Text {
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if o.PageSize == 0 {
		o.PageSize = 4096
	}
	t := Text{Name: name}
	if part := wholeFile(name, data, o); part != nil {
		part.File = name
		t.Parts, t.Lines = []*Part{part}, part.To
		return t
	}
	t.sayBinary(data)
	list := lines(data)
	t.Lines = len(list)
	r := &reading{o: o, name: name, page: float64(o.PageSize)}
	r.events = slices.ContainsFunc(list, func(l line) bool { return wholeEvents.MatchString(l.text) })
	for i := 0; i < len(list); {
		if loggedLine(list[i].text) {
			t.leave(list[i])
			i++
			continue
		}
		part, n := r.next(list[i:])
		switch {
		case part != nil:
			part.File, part.From, part.To = name, list[i].no, list[i+n-1].no
			if part.Logged {
				part.lines = list[i : i+n]
			}
			t.Parts = append(t.Parts, part)
		case n == 0:
			t.leave(list[i])
			n = 1
		}
		i += n
	}
	r.sayDirty()
	t.signGrowth()
	t.Parts = joinAlike(t.Parts)
	if r.doubtful != "" {
		t.Notes = append(t.Notes, fmt.Sprintf("%s: the zone %s is that of several countries: its times are taken to be UTC", name, r.doubtful))
	}
	return t
}

// leave puts a line with those that no format claims.
func (t *Text) leave(l line) {
	if n := len(t.Left); n > 0 && t.Left[n-1].To == l.no-1 {
		t.Left[n-1].To = l.no
		t.Left[n-1].Text = append(t.Left[n-1].Text, l.text)
		return
	}
	t.Left = append(t.Left, Left{l.no, l.no, []string{l.text}})
}

// reading is what the lines before have told about those that follow.
type reading struct {
	o        Options
	name     string
	page     float64                 // bytes of a page
	command  []string                // the last command line
	slept    time.Duration           // by that command line, between copies
	loop     bool                    // which repeats them
	path     string                  // of the file whose contents follow, "proc/vmstat"
	at       time.Time               // the last line that was a time; used once
	filesAt  time.Time               // of the files, stacks and listings above, which holds for those that follow
	meminfo  *Part                   // the last one
	groups   map[string]*groupMemory // of cgroups, by their paths
	events   bool                    // the text has memory.events, beside which its local twin says nothing new
	limits   map[string]float64      // vm.dirty_* that were seen
	cpus     float64                 // from a heading that says it; 0 if unknown
	day      time.Time               // from a heading of sysstat; zero if unknown
	doubtful string                  // the name of a zone that does not tell which it is
}

// format reads a part that begins at the first line; n is 0 if none does.
type format func(r *reading, list []line) (part *Part, n int)

// formats in the order in which they are tried.
func formats() []format {
	return []format{
		readJSON, readVmstat, readIostat, readSar, readSadf, readPidstat, readJstat, readAtop, readFree, readTop, readBusyTop, readUptime, readPs,
		readProcessStat, readGrepped, readMeminfo, readCgroup, readVmstatFile, readSysctl, readInterrupts, readPressure, readHung, readMemoryReport,
		readStack, readWchan, readNotUsed,
	}
}

// next reads what begins at the first line. A nil part with n > 0 is lines that
// say something about others: prompts, times, headings.
func (r *reading) next(list []line) (part *Part, n int) {
	if strings.HasSuffix(r.path, "/wchan") && !list[0].blank() {
		if part, n := readWchan(r, list); n > 0 {
			r.path = ""
			if i := strings.IndexByte(list[0].text, '['); i >= 0 {
				r.heading(list[0].text[i:]) // the prompt behind it
			}
			return part, n
		}
	}
	if list[0].blank() || fence(list[0].text) || r.heading(list[0].text) {
		return nil, 1
	}
	if at, ok := r.dateLine(list[0].text); ok {
		r.at, r.filesAt = at, time.Time{}
		return nil, 1
	}
	if r.at.IsZero() && r.path != "" {
		r.at = r.filesAt
	}
	for _, f := range formats() {
		if part, n := f(r, list); n > 0 {
			at := r.moment()
			if r.filesAt = (time.Time{}); part != nil && part.momentary() {
				r.filesAt = at
			}
			r.path, r.at = "", time.Time{}
			return part, n
		}
	}
	return nil, 0
}

// moment is when what follows was so, if it takes no time to print.
func (r *reading) moment() time.Time {
	if r.at.IsZero() {
		return r.filesAt
	}
	return r.at
}

// momentary reports whether a part took no time to print, so that what follows is
// of the same moment.
func (p *Part) momentary() bool {
	return len(p.Files) > 0 || slices.Contains([]string{"cgroup", "ps", "stack", "wchan"}, p.Format)
}

// fence reports whether a line only sets a block of code apart, as forums want it.
func fence(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), "```") }

var (
	prompt   = regexp.MustCompile(`^\s*(?:\(?[\w.-]+\)?\s*)?(?:\[?[\w.-]+@[\w.-]+[^$#>%]*\]?\s*)?[$#%]\s*((?:sudo\s+)?[a-z/][\w./-]*(?:\s+.*)?)$`)
	headOf   = regexp.MustCompile(`^==> /?((?:proc|sys)/[\w./:@\\,-]+) <==$`)
	pathLine = regexp.MustCompile(`^(?:[\s=#*-]*)/((?:proc|sys)/[\w./@\\,-]+):?[\s=#*-]*$`)
	// bareCommand is a command line that somebody has copied without the prompt.
	bareCommand = regexp.MustCompile(`^((?:sudo )?(?:vmstat|iostat|sar|mpstat|pidstat|free|jstat)(?: +-[-a-zA-Z]+| +[0-9]+| +[A-Z]+)+) *:?$`)
	collector   = regexp.MustCompile(`^(?:Linux OSW\w* v\S+(?: \S+)?|(SNAP_INTERVAL|CPU_CORES|VCPUS|OSWBB_ARCHIVE_DEST) +(\S+))\s*$`)
	sysstat     = regexp.MustCompile(`^Linux (\S+) \(([^)]*)\)\s+(\S+)(?:\s+\S+)?(?:\s+\(([0-9]+) CPUs?\))?\s*$`)
)

// heading takes in a line that tells about those that follow.
func (r *reading) heading(text string) bool {
	if m := sysstat.FindStringSubmatch(text); m != nil {
		r.sysstatHeading(m[3], m[4])
		return true
	}
	if m := headOf.FindStringSubmatch(text); m != nil {
		r.path = m[1]
		return true
	}
	if m := pathLine.FindStringSubmatch(text); m != nil {
		r.path = m[1]
		return true
	}
	if r.collectorHeading(text) {
		return true
	}
	m := prompt.FindStringSubmatch(text)
	if m == nil {
		m = bareCommand.FindStringSubmatch(strings.TrimSpace(text))
	}
	if m == nil {
		return false
	}
	r.takeCommand(m[1])
	return true
}

// collectorHeading takes in the lines at the head of OSWatcher's files.
func (r *reading) collectorHeading(text string) bool {
	m := collector.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	if n, err := strconv.Atoi(m[2]); err == nil && n > 0 && n < 1<<16 && (m[1] == "VCPUS" || m[1] == "CPU_CORES" && r.cpus == 0) {
		r.cpus = float64(n)
	}
	return true
}

// sysstatHeading takes the day and the number of CPUs from the first line of
// sysstat's tools. American dates stand first by its own default.
func (r *reading) sysstatHeading(day, cpus string) {
	for _, layout := range []string{"2006-01-02", "01/02/2006", "01/02/06", "2006年01月02日", "02.01.2006"} {
		if t, err := time.ParseInLocation(layout, day, r.o.Zone); err == nil && plausible(t) {
			r.day = t
			break
		}
	}
	if n, err := strconv.Atoi(cpus); err == nil && n > 0 && n < 1<<16 {
		r.cpus = float64(n)
	}
}

// ran reports whether the last command line ran a tool.
func (r *reading) ran(tool string) bool {
	return len(r.command) > 0 && r.command[0][strings.LastIndexByte(r.command[0], '/')+1:] == tool
}

// asked gives the interval of the last command if it was this tool, and whether
// it had one of the given flags.
func (r *reading) asked(tool string, flags string) (interval time.Duration, flagged bool) {
	if !r.ran(tool) {
		return 0, false
	}
	for _, arg := range r.command[1:] {
		if strings.HasPrefix(arg, "-") {
			flagged = flagged || flags != "" && strings.ContainsAny(strings.TrimLeft(arg, "-"), flags)
			continue
		}
		if n, err := strconv.Atoi(arg); err == nil && n > 0 && n <= 24*3600 && interval == 0 {
			interval = time.Duration(n) * time.Second
		}
	}
	return interval, flagged
}

// Log is the lines that may be of a log: what no format claims, and messages of
// the kernel. Each has the number that it has in the text: the lines of the other
// parts are empty.
func (t Text) Log() []byte {
	runs := slices.Clone(t.Left)
	for _, p := range t.Parts {
		if p.Logged {
			runs = append(runs, Left{From: p.From, Text: p.Text()})
		}
	}
	slices.SortFunc(runs, func(a, b Left) int { return a.From - b.From })
	var b bytes.Buffer
	last := 0
	for _, run := range runs {
		for ; last+1 < run.From; last++ {
			b.WriteByte('\n')
		}
		last = run.From + len(run.Text) - 1
		for _, text := range run.Text {
			b.WriteString(text)
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}
