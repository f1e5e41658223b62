package process

import (
	"time"

	"stallmark/collectors"
)

// inspections runs the inspector on one process after the other, each in its
// own goroutine: reading a command line waits for the lock of the process's
// memory map, and opening a file may wait for a dead server. One that does not
// answer is left behind and asked for again at the next beat.
type inspections struct {
	in      inspector
	wait    bool // live: give up waiting
	running map[ID]chan inspected
	done    []inspected
}

const (
	inspectFor  = 50 * time.Millisecond // how long one is waited for
	maxHangings = 8                     // how many may hang before no more are begun
)

// begin inspects a process, unless that is under way.
func (i *inspections) begin(root collectors.Root, id ID, comm string) {
	if !i.wait {
		i.done = append(i.done, i.in.inspect(root, id, comm))
		return
	}
	if i.running[id] != nil || len(i.running) >= maxHangings {
		return
	}
	answer := make(chan inspected, 1)
	go func() { answer <- i.in.inspect(root, id, comm) }()
	timer := time.NewTimer(inspectFor)
	defer timer.Stop()
	select {
	case f := <-answer:
		i.done = append(i.done, f)
	case <-timer.C:
		if i.running == nil {
			i.running = map[ID]chan inspected{}
		}
		i.running[id] = answer
	}
}

// finished returns what has been found since it was last asked.
func (i *inspections) finished() []inspected {
	for id, answer := range i.running {
		select {
		case f := <-answer:
			i.done = append(i.done, f)
			delete(i.running, id)
		default:
		}
	}
	found := i.done
	i.done = nil
	return found
}

// hanging returns how many inspections do not answer.
func (i *inspections) hanging() int { return len(i.running) }
