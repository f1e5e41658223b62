package host

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"

	"stallmark/collectors"
	"stallmark/storage/model"
)

const (
	psiAbsent   = "PSI is not in this kernel or disabled"
	psiDisabled = "PSI is disabled"
	psiMend     = "boot with psi=1"
	psiNeeds    = "boot with psi=1 (needs Linux 4.20+ with CONFIG_PSI)"
)

// microseconds in a second: the unit of total=.
const microseconds = 1e6

// pressure reads /proc/pressure (Documentation/accounting/psi.rst). cpu has no
// line "full" before 5.13; irq (6.1) has only that, and only in kernels that
// account interrupt time.
type pressure struct {
	files []*psiFile
}

type psiFile struct {
	file
	some, full *model.Series
	optional   bool // its absence is no gap
	gone       bool // it is not there: that does not change before the next boot
}

func newPressure() *pressure {
	p := &pressure{}
	for _, what := range []string{"cpu", "io", "memory", "irq"} {
		p.files = append(p.files, &psiFile{
			file:     file{name: "proc/pressure/" + what},
			some:     model.NewSeries("node_pressure_" + what + "_waiting_seconds_total"),
			full:     model.NewSeries("node_pressure_" + what + "_stalled_seconds_total"),
			optional: what == "irq",
		})
	}
	return p
}

// Name implements [collectors.Source].
func (*pressure) Name() string { return "pressure" }

// Provides implements [collectors.Source].
func (*pressure) Provides() []string { return []string{"node_pressure_"} }

// Collect implements [collectors.Source].
func (p *pressure) Collect(root collectors.Root, out *collectors.Out) error {
	var wrong []error
	for _, f := range p.files {
		if f.gone {
			continue
		}
		err := f.collect(root, out)
		if f.gone = f.optional && isMissing(err); err != nil && !f.gone {
			wrong = append(wrong, err)
		}
	}
	switch {
	case len(wrong) == 0:
		return nil
	case len(out.Samples()) == 0:
		return psiGap(wrong[0])
	}
	return collectors.Partial(errors.Join(wrong...).Error(), "")
}

// collect reads one file.
func (f *psiFile) collect(root collectors.Root, out *collectors.Out) error {
	data, err := root.Read(f.name, f.buf)
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	f.buf = data
	l := readLines(f.name, data)
	used := false
	for line, ok := l.next(); ok; line, ok = l.next() {
		kind, rest := cutField(line)
		series := f.some
		switch string(kind) {
		case "some":
		case "full":
			series = f.full
		default:
			continue
		}
		total, ok := psiTotal(rest)
		if !ok {
			l.fault("some or full with total=")
			continue
		}
		out.Add(series, float64(total)/microseconds)
		used = true
	}
	return l.err(used)
}

// psiTotal finds total=, microseconds.
func psiTotal(rest []byte) (uint64, bool) {
	for {
		var field []byte
		if field, rest = cutField(rest); len(field) == 0 {
			return 0, false
		}
		if total, ok := bytes.CutPrefix(field, []byte("total=")); ok {
			return parseUint(total)
		}
	}
}

// psiGap says why there is no pressure at all. A kernel that has PSI and was
// booted without it opens the files and answers EOPNOTSUPP to reads.
func psiGap(err error) error {
	switch {
	case errors.Is(err, unix.EOPNOTSUPP):
		return collectors.Absent(psiDisabled, psiMend)
	case errors.Is(err, fs.ErrNotExist):
		return collectors.Absent(psiAbsent, psiNeeds)
	}
	if errors.Is(err, fs.ErrPermission) {
		return collectors.Denied(err.Error(), "let this user read /proc/pressure")
	}
	return err
}

func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.EOPNOTSUPP)
}

// psiEnabled reports whether PSI is on; known is false if that cannot be told.
func psiEnabled(root collectors.Root, buf []byte) (on, known bool) {
	data, err := root.Read("proc/pressure/memory", buf)
	if err == nil {
		return strings.HasPrefix(string(data), "some"), true
	}
	return false, isMissing(err)
}
