package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxNamed bounds the groups of threads that are named.
const maxNamed = 5

// ownProcess is the recorder's name. That it waits too says little: its threads
// are named last.
const ownProcess = "stallmark"

// names says who was seen, by kernel function and then by thread name, in the
// order of their first sight:
//
//	flush-1 (rocketmq-broker, thread 812) in balance_dirty_pages
//	6 threads in balance_dirty_pages: SendThread_* ×5 (rocketmq-broker), writer
//	2 threads in balance_dirty_pages, up to 200 ms at a time: writer ×2
func (w *witnesses) names() string {
	all, own := w.sorted()
	if len(all) == 0 {
		all, own = own, nil
	}
	if len(all) == 0 {
		return ""
	}
	var texts []string
	for _, function := range distinct(all, func(t witness) string { return t.function }) {
		texts = append(texts, inFunction(pick(all, func(t witness) bool { return t.function == function })))
	}
	if len(own) > 0 {
		texts = append(texts, fmt.Sprintf("also %s itself", ownProcess))
	}
	return strings.Join(texts, "; ")
}

// sorted are the threads by their first sight, the recorder's own apart. While
// those that wait are only counted, they are those told of shortly before.
func (w *witnesses) sorted() (all, own []witness) {
	from := w.seen
	if len(from) == 0 {
		from = w.early
	}
	for _, t := range from {
		if t.process == ownProcess {
			own = append(own, t)
			continue
		}
		all = append(all, t)
	}
	order := func(a, b witness) int {
		return cmp.Or(a.first.Compare(b.first), strings.Compare(a.pid+"/"+a.tid, b.pid+"/"+b.tid))
	}
	slices.SortFunc(all, order)
	slices.SortFunc(own, order)
	return all, own
}

// inFunction names the threads that were seen in one kernel function.
func inFunction(all []witness) string {
	where := ""
	if f := all[0].function; f != "" {
		where = " in " + f
	}
	where += atATime(all)
	if len(all) == 1 {
		t := all[0]
		return fmt.Sprintf("%s (%s, thread %s)%s", t.name, t.process, t.tid, where)
	}
	kin := func(t witness) string { return family(t.name) + "\x00" + t.process }
	groups := distinct(all, kin)
	var names []string
	rest := len(all)
	for _, g := range groups[:min(len(groups), maxNamed)] {
		members := pick(all, func(t witness) bool { return kin(t) == g })
		names = append(names, groupName(members))
		rest -= len(members)
	}
	text := fmt.Sprintf("%d threads%s: %s", len(all), where, strings.Join(names, ", "))
	if rest > 0 {
		text += fmt.Sprintf(" and %d more", rest)
	}
	return text
}

// atATime is the longest single wait, where tracepoints have told it.
func atATime(all []witness) string {
	longest := slices.MaxFunc(all, func(a, b witness) int { return cmp.Compare(a.longest, b.longest) }).longest
	if longest == 0 {
		return ""
	}
	return fmt.Sprintf(", up to %d ms at a time", longest.Milliseconds())
}

// groupName is for instance "SendThread_* ×5 (rocketmq-broker)".
func groupName(members []witness) string {
	name := members[0].name
	if slices.ContainsFunc(members, func(t witness) bool { return t.name != name }) {
		name = family(name)
	}
	text := name
	if len(members) > 1 {
		text += fmt.Sprintf(" ×%d", len(members))
	}
	if p := members[0].process; p != name {
		text += " (" + p + ")"
	}
	return text
}

// family is a thread's name with a star for the number at its end: the threads
// of a pool differ in it alone.
func family(name string) string {
	if stem := strings.TrimRight(name, "0123456789"); stem != name && stem != "" {
		return stem + "*"
	}
	return name
}

// distinct are the values of a key, in the order of their first occurrence.
func distinct(all []witness, key func(witness) string) []string {
	var out []string
	for _, t := range all {
		if k := key(t); !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

func pick(all []witness, want func(witness) bool) []witness {
	return slices.DeleteFunc(slices.Clone(all), func(t witness) bool { return !want(t) })
}
