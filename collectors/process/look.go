package process

import (
	"fmt"
	"time"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// sight is what can be seen of the waits of one process's threads.
type sight struct {
	stack sightState
	wchan sightState
	tries int       // probes without an answer
	again time.Time // when to try again what was denied
}

type sightState int

const (
	sightUnknown sightState = iota
	sightOK
	sightDenied // no permission, or the kernel does not tell
)

// any reports whether a wait would be seen.
func (s *sight) any() bool { return s.stack == sightOK || s.wchan == sightOK }

// retrySight is how long a denied file is left alone.
const retrySight = time.Minute

// tellAgain is how long one thread's wait in one group makes no second event.
const tellAgain = 10 * time.Second

// looker finds out where threads wait, within the bounds of a beat.
type looker struct {
	classifier
	at       time.Time
	blockedN int
	runningN int
	events   int
	capped   bool
	buf      []byte
}

// begin starts a beat.
func (l *looker) begin(at time.Time) {
	l.at = at
	l.blockedN, l.runningN, l.events, l.capped = 0, 0, 0, false
}

// report says that not all could be looked at.
func (l *looker) report(missing *gaps) {
	if l.capped {
		missing.add(model.SourcePartial, fmt.Sprintf("more than %d threads newly blocked in one beat: not all were looked at", maxBlocked), "")
	}
}

// recorded reads whatever a recording has of a thread. Its files were read a
// little apart, so that each may tell of a wait.
func (l *looker) recorded(root collectors.Root, th *thread, s *sight) verdict {
	wchan := l.read(root, th.dir+"wchan", &s.wchan)
	return better(l.read(root, th.dir+"stack", &s.stack), wchan)
}

// blocked reads the place of a blocked thread: the stack, or the function alone
// where stacks are denied.
func (l *looker) blocked(root collectors.Root, th *thread, s *sight) verdict {
	if l.blockedN >= maxBlocked {
		l.capped = true
		return verdict{}
	}
	l.blockedN++
	l.retry(s)
	if s.stack != sightDenied {
		if v := l.read(root, th.dir+"stack", &s.stack); v.function != "" {
			return v
		}
	}
	return l.read(root, th.dir+"wchan", &s.wchan)
}

// running reads the stack of a thread that is ready to run: reclaim, compaction
// and swap-in from memory do not sleep.
func (l *looker) running(root collectors.Root, th *thread, s *sight) verdict {
	if s.stack == sightDenied || l.runningN >= maxRunning {
		return verdict{}
	}
	l.runningN++
	return l.read(root, th.dir+"stack", &s.stack)
}

// probe finds out, on a sleeping thread, what may be read, so that nobody
// blocked is not taken for nobody seen.
func (l *looker) probe(root collectors.Root, th *thread, s *sight) {
	l.retry(s)
	if th.state != 'S' || s.stack != sightUnknown && s.wchan != sightUnknown {
		return
	}
	if s.stack == sightUnknown {
		l.read(root, th.dir+"stack", &s.stack)
	}
	if s.stack != sightOK && s.wchan == sightUnknown {
		l.read(root, th.dir+"wchan", &s.wchan) // prints 0 to those who may not know
	}
	if s.tries++; s.tries >= maxProbes {
		s.give()
	}
}

// maxProbes is how many sleeping threads may tell nothing before that is taken
// for an answer: one may end or wake up while it is looked at.
const maxProbes = 4

// give takes what gave no answer for denied.
func (s *sight) give() {
	if s.stack == sightUnknown {
		s.stack = sightDenied
	}
	if s.wchan == sightUnknown {
		s.wchan = sightDenied
	}
}

// retry forgets a denial after a while: capabilities and sysctls change.
func (l *looker) retry(s *sight) {
	if s.stack != sightDenied && s.wchan != sightDenied || l.at.Before(s.again) {
		return
	}
	if !s.again.IsZero() {
		s.tries = 0
		for _, state := range []*sightState{&s.stack, &s.wchan} {
			if *state == sightDenied {
				*state = sightUnknown
			}
		}
	}
	s.again = l.at.Add(retrySight)
}

// read judges one file and notes whether it can be read at all.
func (l *looker) read(root collectors.Root, name string, state *sightState) verdict {
	var err error
	if l.buf, err = root.Read(name, l.buf); err != nil {
		if !gone(err) {
			*state = sightDenied
		}
		return verdict{}
	}
	v := l.classify(l.buf)
	if v.function != "" {
		*state = sightOK
	}
	return v
}

// event tells of one thread's wait, at most once in a while for each group.
func (l *looker) event(out *collectors.Out, w *watched, th *thread, wait string) {
	if last, ok := th.told[wait]; ok && l.at.Sub(last) < tellAgain || l.events >= maxBlockEvt {
		return
	}
	if th.told == nil {
		th.told = map[string]time.Time{}
	}
	th.told[wait] = l.at
	l.events++
	out.Event(model.Event{
		Kind: model.EventBlocked,
		Text: fmt.Sprintf("%s (%s) of %s waits in %s (%s)", th.comm, th.tid, w.name, th.at.function, wait),
		Attrs: map[string]string{
			"process": w.name, "pid": w.pid, "tid": th.tid, "thread": th.comm,
			"wait": wait, "function": th.at.function, "stack": th.at.stack,
		},
	})
}
