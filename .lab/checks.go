package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"stallmark/storage/model"
)

// found checks that the recorder follows the broker's logs and GC log without having been told of them.
func (b *bench) found(ctx context.Context) error {
	wanted := []string{b.in("home", "logs", "rocketmqlogs", "store.log"), b.in("home", "logs", "rocketmqlogs", "broker.log"), b.in("gc") + "/rmq_srv_gc_"}
	if b.product == "kafka" {
		wanted = []string{b.in("logs", "server.log"), b.in("logs", "controller.log"), b.in("logs", "kafkaServer-gc.log")}
	}
	var lacking []string
	for range 30 {
		rep, err := b.r.report(ctx, time.Now().Add(-time.Minute), time.Now())
		if err != nil {
			return err
		}
		lacking = slices.DeleteFunc(slices.Clone(wanted), func(path string) bool { return followed(rep.Coverage, path) })
		if len(lacking) == 0 {
			return nil
		}
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
	}
	return fmt.Errorf("not followed: %s", strings.Join(lacking, ", "))
}

func followed(list []model.Coverage, path string) bool {
	return slices.ContainsFunc(list, func(c model.Coverage) bool {
		return strings.HasPrefix(c.Source, "log "+path) && c.State == model.SourceOK
	})
}

// retried checks that the growth of %RETRY% is read from stats.log, which is written once a minute.
func retried(ctx context.Context, b *bench) error {
	out, err := tool(ctx, b.o.stallmark, "rules", "match", b.in("home", "logs", "rocketmqlogs", "stats.log"))
	if err != nil {
		return err
	}
	for _, id := range []string{"rocketmq-stats-retry-put", "rocketmq-stats-sendback"} {
		if !strings.Contains(out, id) {
			return fmt.Errorf("no line of stats.log is taken for %s", id)
		}
	}
	return nil
}

// lateNamed checks that the evidence of cold reads names the consumer group that reads old data.
func lateNamed(_ *bench, rep model.Report, _ row, _ time.Time) error {
	for _, f := range rep.Findings {
		named := func(e model.Evidence) bool { return strings.Contains(e.Detail, "lab-late") }
		if f.Signature == "catch-up-cold-reads" && slices.ContainsFunc(f.Evidence, named) {
			return nil
		}
	}
	return fmt.Errorf("the group that reads old data is not named")
}

var slowPut = regexp.MustCompile(`(?m)^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) .*(?:in lock (?:cost|elapsed)|putMessages? cost).*bodyLength=(\d{7,})`)

// largeNamed checks that large messages are named if, and only if, the broker logged a slow put of one. Kafka logs none as it is shipped.
func largeNamed(b *bench, _ model.Report, w row, from time.Time) error {
	text, err := os.ReadFile(b.in("home", "logs", "rocketmqlogs", "store.log"))
	if err != nil && b.product == "rocketmq" {
		return err
	}
	logged := false
	for _, m := range slowPut.FindAllStringSubmatch(string(text), -1) {
		size, _ := strconv.Atoi(m[2])
		at, err := time.ParseInLocation(time.DateTime, m[1], time.FixedZone("GMT+8", 8*3600))
		logged = logged || err == nil && size > 1<<20 && !at.Before(from.Truncate(time.Second))
	}
	if said := slices.Contains(w.Symptoms, "large-message"); said != logged {
		return fmt.Errorf("a slow put of a large message is in the log: %t; it is named: %t", logged, said)
	}
	return nil
}
