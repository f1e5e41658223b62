package host

import (
	"fmt"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// presence keeps something for each disk or CPU that is there, and tells of
// their coming and going. What is kept for one that leaves is dropped: should
// it return, it begins anew with series of its own.
type presence[T any] struct {
	kind string // "disk" or "cpu", for the events
	all  map[string]*present[T]
	beat uint64
}

type present[T any] struct {
	value T
	beat  uint64 // in which it was seen last
}

func newPresence[T any](kind string) presence[T] {
	return presence[T]{kind: kind, all: map[string]*present[T]{}}
}

// see gives what is kept for a name and notes that it is there; nil if it was
// not there before.
func (p *presence[T]) see(name []byte) *T {
	e := p.all[string(name)]
	if e == nil {
		return nil
	}
	e.beat = p.beat
	return &e.value
}

// add keeps a value for a new name. From the second beat on that is an event.
func (p *presence[T]) add(name string, v T, out *collectors.Out) *T {
	e := &present[T]{value: v, beat: p.beat}
	p.all[name] = e
	if p.beat > 0 {
		out.Event(p.event(name, "came"))
	}
	return &e.value
}

// sweep ends a beat: it drops what was not seen in it and reports whether
// anything went.
func (p *presence[T]) sweep(out *collectors.Out) (gone bool) {
	for name, e := range p.all {
		if e.beat != p.beat {
			delete(p.all, name)
			out.Event(p.event(name, "gone"))
			gone = true
		}
	}
	p.beat++
	return gone
}

func (p *presence[T]) event(name, change string) model.Event {
	name = cleanText([]byte(name))
	return model.Event{
		Kind:  model.EventDevice,
		Text:  fmt.Sprintf("%s %s: %s", p.kind, name, change),
		Attrs: map[string]string{"kind": p.kind, "device": name, "change": change},
	}
}
