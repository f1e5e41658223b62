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

// MeanWaiting is, for the expression of a witness, the mean number of threads
// that the kernel's tracepoints saw wait: seconds of waiting a second. It counts
// what is over between two looks too. False for any other expression.
func MeanWaiting(expr string) (string, bool) {
	_, rest, found := strings.Cut(expr, "sum by (process, pid) (stallmark_blocked_threads")
	match, _, closed := strings.Cut(rest, ")")
	if !found || !closed {
		return "", false
	}
	return "sum by (process, pid) (rate(stallmark_wait_seconds_total" + match + "[3s]))", true
}

// witnesses are the threads seen waiting during a finding, by process and
// thread id.
type witnesses struct {
	seen  map[string]witness
	early map[string]witness // told shortly before it began
	to    time.Time          // events up to here have been read
}

// toldEvery is for how long a thread that goes on waiting is not told of again:
// who waits in the first beat of a finding may have been named before.
const toldEvery = 10 * time.Second

type witness struct {
	first               time.Time
	process, pid        string
	name, tid, function string
	longest             time.Duration // one wait; 0 if no tracepoint has told
}

// read takes the blocked events since the last time, of the given waits and
// this subject.
func (w *witnesses) read(ctx context.Context, src Source, rule *EvidenceRule, subject map[string]string, from, to time.Time) error {
	started := from
	if from = from.Add(-toldEvery); w.to.After(from) {
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
		if e.To.Before(started) {
			add(&w.early, e)
			continue
		}
		add(&w.seen, e)
	}
	return nil
}

// add takes what an event tells of a thread.
func add(to *map[string]witness, e model.Event) {
	if *to == nil {
		*to = map[string]witness{}
	}
	key := e.Attrs["pid"] + "/" + e.Attrs["tid"]
	t, ok := (*to)[key]
	if !ok {
		t = witness{
			first: e.From, process: cmp.Or(e.Attrs["process"], "pid "+e.Attrs["pid"]), pid: e.Attrs["pid"],
			name: cmp.Or(e.Attrs["thread"], e.Attrs["process"]), tid: e.Attrs["tid"], function: e.Attrs["function"],
		}
	}
	t.longest = max(t.longest, waited(e.Attrs))
	(*to)[key] = t
}

// waited is how long a wait was, as a tracepoint told it.
func waited(attrs map[string]string) time.Duration {
	ms, err := strconv.ParseUint(attrs["ms"], 10, 32)
	if err != nil {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}
