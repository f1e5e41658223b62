package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stallmark/collectors/files/pasted"
	"stallmark/collectors/logs"
	"stallmark/rules"
	"stallmark/storage/model"
)

// decider finds what to run on a host so that causes which texts leave open are
// decided.
type decider struct {
	pack *rules.Pack
	line *pasted.Timeline
	open []*rules.Signature // causes, the worst first
	idle []*rules.Signature // without anything that they are about in the texts
}

// decide gives at most three commands, the most telling first. Behind each stands,
// as a comment of the shell, what it would decide.
func decide(r model.Report, pack *rules.Pack, line *pasted.Timeline, given []logs.LogAtRest) []string {
	d := decider{pack: pack, line: line}
	for _, f := range r.Findings {
		if f.Confidence == model.Possible {
			d.add(f.Signature)
		}
	}
	found := len(d.open)
	for _, u := range r.Unknown {
		d.add(u.Signature)
	}
	slices.SortStableFunc(d.open[found:], func(a, b *rules.Signature) int {
		return cmp.Compare(urgency(a.Severity), urgency(b.Severity))
	})
	for _, n := range r.NotApplicable {
		d.idle = append(d.idle, pack.Signature(n.Signature))
	}
	list := slices.Concat(d.record(), d.copies(), d.brokerLogs(given))
	if len(list) < maxDecide {
		list = append(list, d.listings()...)
	}
	return list
}

// Bounds of what is said.
const (
	maxDecide  = 3 // commands
	namedCause = 4 // causes behind one
)

func urgency(s model.Severity) int {
	return slices.Index([]model.Severity{model.SeverityCritical, model.SeverityWarning, model.SeverityInfo}, s)
}

// add takes a cause that is open.
func (d *decider) add(id string) {
	if s := d.pack.Signature(id); s != nil && s.Layer == model.LayerCause && !slices.Contains(d.open, s) {
		d.open = append(d.open, s)
	}
}

// deciding writes a command and what it would decide, nothing if that is nothing.
func deciding(command string, causes []*rules.Signature) []string {
	var ids []string
	for _, s := range causes {
		ids = append(ids, s.ID)
	}
	switch {
	case len(ids) == 0:
		return nil
	case len(ids) > namedCause:
		ids = append(ids[:namedCause:namedCause], fmt.Sprintf("and %d more", len(ids)-namedCause))
	}
	return []string{command + "  # decides " + strings.Join(ids, ", ")}
}

// record is this program's own recorder, which decides most.
func (d *decider) record() []string {
	return deciding("stallmark record -o stall.tar.zst --for 60s", d.open)
}

// copies are the files of the kernel that the worst of the open causes lack, once a
// second: what any shell can do.
func (d *decider) copies() []string {
	var places []string
	var causes []*rules.Signature
	for _, s := range d.open {
		lacking := d.line.Lacking(s.Needs)
		if len(lacking) == 0 || len(causes) > 0 && urgency(s.Severity) > urgency(causes[0].Severity) {
			continue
		}
		causes = append(causes, s)
		for _, place := range lacking {
			if !slices.Contains(places, place) {
				places = append(places, place)
			}
		}
	}
	slices.Sort(places)
	return deciding(fmt.Sprintf("for i in $(seq 30); do date -u +%%FT%%TZ; grep -H . %s; sleep 1; done > stall.txt", strings.Join(places, " ")), causes)
}

// listings show where threads wait, again and again.
func (d *decider) listings() []string {
	var causes []*rules.Signature
	for _, s := range d.open {
		if slices.ContainsFunc(s.Evidence, func(e rules.EvidenceRule) bool { return len(e.Wait) > 0 }) {
			causes = append(causes, s)
		}
	}
	return deciding("for i in $(seq 30); do date -u +%FT%TZ; ps -eLo pid,stat,wchan:32,comm | awk 'NR==1 || $2 ~ /^D/'; sleep 1; done > waits.txt", causes)
}

// defaultLogs are where products keep the logs that matter unless they are told
// otherwise, the garbage collector's last: RocketMQ by conf/rmq.broker.logback.xml
// and bin/runbroker.sh, Kafka by config/log4j.properties and bin/kafka-run-class.sh.
func defaultLogs(product string) []string {
	return map[string][]string{
		"rocketmq": {"~/logs/rocketmqlogs/store.log", "~/logs/rocketmqlogs/broker.log", "/dev/shm/rmq_srv_gc_*.log"},
		"kafka":    {"${KAFKA_HOME:-/opt/kafka}/logs/server.log", "${KAFKA_HOME:-/opt/kafka}/logs/kafkaServer-gc.log"},
	}[product]
}

// brokerLogs packs the GC log of a broker that other logs tell of, and those of its
// logs that were not given; tar keeps the times of the files, which tell zones.
func (d *decider) brokerLogs(given []logs.LogAtRest) []string {
	var product string
	var names []string
	for _, l := range given {
		if l.What == logs.GC {
			return nil
		}
		if product == "" {
			product = l.Product
		}
		names = append(names, filepath.Base(l.Name))
	}
	want := slices.DeleteFunc(defaultLogs(product), func(path string) bool { return slices.Contains(names, filepath.Base(path)) })
	if len(want) == 0 {
		return nil
	}
	var causes []*rules.Signature
	for _, s := range slices.Concat(d.open, d.idle) {
		if s != nil && slices.ContainsFunc(s.Needs, func(n string) bool {
			return strings.Contains(n, "stallmark_gc_") || strings.Contains(n, "stallmark_safepoint_")
		}) {
			causes = append(causes, s)
		}
	}
	return deciding("tar czf broker-logs.tgz "+strings.Join(want, " "), causes)
}
