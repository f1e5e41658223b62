package rules

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"stallmark/storage/model"
)

// maxWitnesses bounds the names kept of a witness; maxNamed those shown.
const (
	maxWitnesses = 1000
	maxNamed     = 5
)

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
	first  time.Time
	name   string
	thread string
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
		if _, ok := w.seen[key]; ok {
			continue
		}
		if w.seen == nil {
			w.seen = map[string]witness{}
		}
		w.seen[key] = witness{first: e.From, name: witnessName(e.Attrs), thread: key}
	}
	return nil
}

// witnessName is for instance "flush-1 (rocketmq-broker, thread 812) in balance_dirty_pages".
func witnessName(attrs map[string]string) string {
	name := fmt.Sprintf("%s (%s, thread %s)", attrs["thread"], cmp.Or(attrs["process"], "pid "+attrs["pid"]), attrs["tid"])
	if f := attrs["function"]; f != "" {
		name += " in " + f
	}
	return name
}

// names lists the first few, in the order of their first sight.
func (w *witnesses) names() string {
	all := make([]witness, 0, len(w.seen))
	for _, v := range w.seen {
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b witness) int {
		return cmp.Or(a.first.Compare(b.first), strings.Compare(a.thread, b.thread))
	})
	var names []string
	for _, v := range all[:min(len(all), maxNamed)] {
		names = append(names, v.name)
	}
	text := strings.Join(names, ", ")
	if more := len(all) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
