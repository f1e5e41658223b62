package rules

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"stallmark/storage/model"
)

// maxWitnesses bounds the threads kept as witnesses.
const maxWitnesses = 1000

// waitExpr is the number of threads seen in a beat in any of the waits.
func waitExpr(waits []string) string {
	match := fmt.Sprintf("{wait=~%q}", strings.Join(waits, "|"))
	return "sum by (process, pid) (stallmark_blocked_threads" + match + ") or sum(stallmark_host_blocked_tasks" + match + ")"
}

// witnesses are the threads seen waiting during a finding, by process and
// thread id.
type witnesses struct {
	seen map[string]witness
	to   time.Time // events up to here have been read
}

type witness struct {
	first               time.Time
	process, pid        string
	name, tid, function string
	longest             time.Duration // one wait; 0 if no tracepoint has told
}

// read takes the blocked events since the last time, of the given waits and
// this subject.
func (w *witnesses) read(ctx context.Context, src Source, rule *EvidenceRule, subject map[string]string, from, to time.Time) error {
	if w.to.After(from) {
		from = w.to
	}
	events, err := src.EventsIn(ctx, from, to, model.EventBlocked)
	if err != nil {
		return err
	}
	w.to = to
	for _, e := range events {
		if !slices.Contains(rule.Wait, e.Attrs["wait"]) || !agreesMap(subject, e.Attrs) || len(w.seen) >= maxWitnesses {
			continue
		}
		key := e.Attrs["pid"] + "/" + e.Attrs["tid"]
		if t, ok := w.seen[key]; ok {
			t.longest = max(t.longest, waited(e.Attrs))
			w.seen[key] = t
			continue
		}
		if w.seen == nil {
			w.seen = map[string]witness{}
		}
		w.seen[key] = witness{
			longest: waited(e.Attrs), first: e.From, process: cmp.Or(e.Attrs["process"], "pid "+e.Attrs["pid"]), pid: e.Attrs["pid"],
			name: e.Attrs["thread"], tid: e.Attrs["tid"], function: e.Attrs["function"],
		}
	}
	return nil
}

// waited is how long a wait was, as a tracepoint told it.
func waited(attrs map[string]string) time.Duration {
	ms, err := strconv.ParseUint(attrs["ms"], 10, 32)
	if err != nil {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}
