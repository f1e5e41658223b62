package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// assembler puts the entries of a recording together into ticks.
type assembler struct {
	entries entries
	limits  Limits
	meta    Meta
	notes   []string

	cur     *draft
	last    *tree // the tick before, for slow files
	lastAt  time.Time
	lastNo  int
	step    time.Duration // between the last two ticks
	shift   time.Duration // by which times are moved since the clock was set back
	skipped run
	ticks   int
	ended   error // what followed the last entry
}

// patience is how far back a clock may go for its ticks to be passed over until
// it has caught up. What lies further back goes on under times that are moved.
const patience = 10 * time.Second

// run is ticks in a row that were passed over for one reason.
type run struct {
	from, to int
	why      string
}

// draft is a tick that is being put together.
type draft struct {
	number  int
	at      time.Time
	tree    *tree
	facts   map[string]string
	size    int64
	entries int
	whole   bool // the last entry was its time
}

func newAssembler(src entries, limits Limits) *assembler {
	return &assembler{entries: src, limits: limits}
}

// next returns the next whole tick, or io.EOF.
func (a *assembler) next() (Tick, error) {
	for a.ended == nil {
		e, err := a.entries.next()
		if err != nil {
			a.ended = err
			break
		}
		done, err := a.take(e)
		if err != nil {
			a.ended = err
			return Tick{}, err
		}
		if done == nil {
			continue
		}
		if tick, ok := a.finish(done); ok {
			return tick, nil
		}
	}
	return a.tail()
}

// tail ends the recording: the tick under way counts if the archive ends
// properly or its time, the mark of a whole tick, came last.
func (a *assembler) tail() (Tick, error) {
	clean := errors.Is(a.ended, io.EOF)
	d := a.cur
	a.cur = nil
	if d != nil && (clean || d.whole) && !refused(a.ended) {
		if tick, ok := a.finish(d); ok {
			return tick, nil
		}
	}
	a.endRun()
	switch {
	case clean, refused(a.ended), a.lastAt.IsZero():
	default:
		a.notes = append(a.notes, fmt.Sprintf("cut off or damaged after %s: %v", a.lastAt.Format(time.RFC3339), a.ended))
		a.ended = io.EOF
	}
	return Tick{}, a.ended
}

// take adds an entry. It returns the draft before it when the entry begins
// another tick.
func (a *assembler) take(e entry) (done *draft, err error) {
	number, inner, ok := splitName(e.name)
	if !ok {
		return nil, a.takeOutside(e)
	}
	if a.cur != nil && a.cur.number != number {
		done, a.cur = a.cur, nil
	}
	if a.cur == nil {
		if a.ticks++; a.ticks > a.limits.Ticks {
			return nil, fmt.Errorf("more than %d ticks: %w", a.limits.Ticks, ErrLimit)
		}
		a.cur = &draft{number: number, tree: newTree()}
	}
	return done, a.cur.add(e, inner, a.limits)
}

// takeOutside looks at what belongs to no tick: only meta.json matters, at the
// top or below the recording's name.
func (a *assembler) takeOutside(e entry) error {
	if a.ticks > 0 || e.link || !isMeta(e.name) {
		return nil
	}
	meta, err := parseMeta(e.data)
	a.meta = meta
	return err
}

// finish makes a tick of a draft that has a time after the last one's, or that
// a clock which was set back gave a wrong one.
func (a *assembler) finish(d *draft) (Tick, bool) {
	if d.at.IsZero() {
		a.skip(d.number, "no time")
		return Tick{}, false
	}
	at := d.at.Add(a.shift)
	if !at.After(a.lastAt) {
		back := a.lastAt.Sub(at)
		if back <= patience || d.number <= a.lastNo {
			a.skip(d.number, "a time that goes back")
			return Tick{}, false
		}
		a.endRun()
		move := back + max(a.step, time.Millisecond)
		a.shift += move
		at = at.Add(move)
		a.notes = append(a.notes, fmt.Sprintf("the clock was set back before tick %06d: its time and those that follow are moved by %v", d.number, move.Round(time.Millisecond)))
	}
	a.endRun()
	if !a.lastAt.IsZero() {
		a.step = at.Sub(a.lastAt)
	}
	d.tree.at = at
	if a.last != nil {
		a.last.remember(d.tree)
	}
	a.last, a.lastAt, a.lastNo = d.tree, at, d.number
	return Tick{Number: d.number, At: at, Root: d.tree, Facts: d.facts}, true
}

// skip notes a tick that is passed over, many in a row in one line.
func (a *assembler) skip(number int, why string) {
	if a.skipped.why != why {
		a.endRun()
		a.skipped = run{number, number, why}
	}
	a.skipped.to = number
}

// endRun writes the note about the ticks passed over so far.
func (a *assembler) endRun() {
	r := a.skipped
	a.skipped = run{}
	switch {
	case r.why == "":
	case r.from == r.to:
		a.notes = append(a.notes, fmt.Sprintf("tick %06d has %s: passed over", r.from, r.why))
	default:
		a.notes = append(a.notes, fmt.Sprintf("ticks %06d to %06d have %s: passed over", r.from, r.to, r.why))
	}
}

// add puts one entry into the tick.
func (d *draft) add(e entry, inner string, limits Limits) error {
	d.entries++
	d.size += int64(len(e.name) + len(e.data) + len(e.target))
	if d.entries > limits.Entries || d.size > limits.Tick {
		return fmt.Errorf("tick %06d: %w", d.number, ErrLimit)
	}
	d.whole = false
	var err error
	switch {
	case e.link:
		d.tree.flat.Links[inner] = e.target
	case inner == nameAt || inner == nameOldTime:
		d.at, err = parseTime(inner, e.data)
		d.whole = err == nil
	case inner == nameDirs:
		err = d.addDirs(e.data)
	case inner == nameErrors:
		err = d.addErrors(e.data)
	case inner == nameFacts:
		err = json.Unmarshal(e.data, &d.facts)
	default:
		d.tree.addFile(inner, e.data)
	}
	if err != nil {
		return fmt.Errorf("tick %06d: %s: %w", d.number, inner, err)
	}
	return nil
}

func (d *draft) addDirs(data []byte) error {
	dirs := map[string][]string{}
	if err := json.Unmarshal(data, &dirs); err != nil {
		return err
	}
	for name, list := range dirs {
		d.tree.dirs[name] = slices.DeleteFunc(list, func(child string) bool { return !plainChild(child) })
		if p := processOf(name); p != "" {
			d.tree.procs[p] = true
		}
	}
	return nil
}

func (d *draft) addErrors(data []byte) error {
	names := map[string]string{}
	if err := json.Unmarshal(data, &names); err != nil {
		return err
	}
	for name, errno := range names {
		e, ok := errnoByName(errno)
		if !ok {
			return fmt.Errorf("%s: unknown error %q", name, errno)
		}
		d.tree.errs[name] = e
	}
	return nil
}
