package process

import (
	"bytes"
	"strings"
)

// verdict is what a thread's place in the kernel means.
type verdict struct {
	wait     string // group, empty if none
	rank     int    // of the rule that decided; a smaller one says more
	function string // innermost, empty if the thread is not in the kernel
	stack    string // functions joined by " < ", innermost first
	asleep   bool   // the group holds only if the thread does not run
	sleeps   bool   // an ordinary sleep: neither a group nor "other"
}

// maxFrames and maxStackText bound what is kept of a stack.
const (
	maxFrames    = 32
	maxFrameName = 96
	cacheStacks  = 1024
)

// classifier turns stacks into groups. It remembers the texts it has seen:
// threads wait in the same few places.
type classifier struct {
	seen map[string]verdict
}

// classify judges the text of /proc/PID/task/TID/stack or of wchan.
func (c *classifier) classify(text []byte) verdict {
	text = bytes.TrimSpace(text)
	if v, ok := c.seen[string(text)]; ok {
		return v
	}
	v := judge(parseStack(text))
	if c.seen == nil || len(c.seen) >= cacheStacks {
		c.seen = map[string]verdict{}
	}
	c.seen[string(text)] = v
	return v
}

// parseStack reads the function names of a stack, innermost first:
//
//	[<0>] balance_dirty_pages+0x1a2/0x7f0
//	[<ffffffff811a2b3c>] sleep_on_page+0xe/0x20
//
// A bare name, as in wchan, is a stack of one.
func parseStack(text []byte) []string {
	var frames []string
	for len(text) > 0 && len(frames) < maxFrames {
		var line []byte
		line, text = cutLine(text)
		if i := bytes.IndexByte(line, ']'); i >= 0 && bytes.HasPrefix(line, []byte("[<")) {
			line = line[i+1:]
		}
		word, _ := nextField(line)
		if name := functionName(word); name != "" {
			frames = append(frames, name)
		}
	}
	return frames
}

// functionName cuts offset and compiler suffixes off a symbol. An unresolved
// address, "0" and the end mark of old stacks are no names.
func functionName(b []byte) string {
	if i := bytes.IndexByte(b, '+'); i >= 0 {
		b = b[:i]
	}
	if i := bytes.IndexByte(b, '.'); i > 0 { // .isra.0, .constprop.1, .part.2, .cold, .llvm.3
		b = b[:i]
	}
	if len(b) == 0 || b[0] >= '0' && b[0] <= '9' {
		return ""
	}
	if len(b) > maxFrameName {
		b = b[:maxFrameName]
	}
	return cleanName(string(b))
}

// judge applies the rules to a stack.
func judge(frames []string) verdict {
	v := verdict{stack: strings.Join(frames, " < "), rank: len(waitRules)}
	if len(frames) == 0 {
		return v
	}
	v.function = frames[0]
	for i, r := range waitRules {
		if r.holds(frames) {
			v.wait, v.rank, v.asleep = r.wait, i, r.asleep
			return v
		}
	}
	v.sleeps = matchesAny(plainSleeps, frames[0])
	return v
}

// holds reports whether the rule fits the stack.
func (r *waitRule) holds(frames []string) bool {
	for i, f := range frames {
		if matchesAny(r.fn, f) && (len(r.under) == 0 || anyMatches(r.under, frames[i+1:])) {
			return true
		}
		if r.top {
			return false
		}
	}
	return false
}

func anyMatches(patterns, frames []string) bool {
	for _, f := range frames {
		if matchesAny(patterns, f) {
			return true
		}
	}
	return false
}

func matchesAny(patterns []string, name string) bool {
	for _, p := range patterns {
		if matches(p, name) {
			return true
		}
	}
	return false
}

// matches compares a name with a pattern that may have a * at either end.
func matches(pattern, name string) bool {
	head, tail := strings.HasSuffix(pattern, "*"), strings.HasPrefix(pattern, "*")
	text := strings.Trim(pattern, "*")
	switch {
	case head && tail:
		return strings.Contains(name, text)
	case head:
		return strings.HasPrefix(name, text)
	case tail:
		return strings.HasSuffix(name, text)
	}
	return name == text
}

// better joins what wchan and stack say of one thread, read a little apart: the
// one with the earlier rule says more; without any, the stack.
func better(stack, wchan verdict) verdict {
	if wchan.rank < stack.rank || stack.function == "" {
		return wchan
	}
	return stack
}

// waitOf is the group of a thread in the given state, empty if nothing holds it
// up or nobody could see what.
func (v verdict) waitOf(state byte) string {
	blocked := state == 'D'
	switch {
	case v.wait != "" && (blocked || !v.asleep):
		return v.wait
	case blocked && v.wait == "" && !v.sleeps && v.function != "":
		return waitOther
	}
	return ""
}

// Classify says where a thread waits by the text of its stack, as in
// /proc/PID/stack, or of wchan: the group (empty if it is none), the innermost
// function (empty if the thread is not in the kernel) and the functions,
// innermost first.
func Classify(stack []byte) (wait, function, frames string) {
	v := judge(parseStack(stack))
	return v.wait, v.function, v.stack
}
