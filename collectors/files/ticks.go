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

	cur    *draft
	last   *tree // the tick before, for slow files
	lastAt time.Time
	ticks  int
	ended  error // what followed the last entry
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

// finish makes a tick of a draft that has a time after the last one's.
func (a *assembler) finish(d *draft) (Tick, bool) {
	if !d.at.After(a.lastAt) {
		what := "goes back in time"
		if d.at.IsZero() {
			what = "has no time"
		}
		a.notes = append(a.notes, fmt.Sprintf("tick %06d %s: passed over", d.number, what))
		return Tick{}, false
	}
	d.tree.at = d.at
	if a.last != nil {
		a.last.remember(d.tree)
	}
	a.last, a.lastAt = d.tree, d.at
	return Tick{Number: d.number, At: d.at, Root: d.tree, Facts: d.facts}, true
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
