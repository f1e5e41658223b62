package main

import (
	"context"
	"syscall"
	"time"
)

// trials are what every broker goes through, in this order.
func trials() []trial {
	return []trial{
		{
			name: "quiet", provoked: "nothing: load, a consumer that always fails", settle: 20 * time.Second,
			provoke: func(ctx context.Context, b *bench) error { return nil },
		},
		{
			name: "dirty", provoked: "writers at a dirty limit of 64 MiB beside the broker (stalldrill)", root: true, settle: 8 * time.Second,
			causes: []string{"dirty-throttling"}, symptoms: appendSymptoms, also: []string{"disk-saturation", "disk-slow", "fsync-stall", "writeback-churn"},
			provoke: drill("dirty-throttling", 25*time.Second, "produce:bulk:300:65536"),
		},
		{
			name: "freeze", provoked: "the broker is stopped for 6 s (SIGSTOP)", settle: 10 * time.Second,
			provoke: func(ctx context.Context, b *bench) error {
				pid := b.main.pid()
				if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
					return err
				}
				defer func() { _ = syscall.Kill(pid, syscall.SIGCONT) }()
				return pause(ctx, 6*time.Second)
			},
		},
	}
}

// appendSymptoms are what brokers say of a slow append.
var appendSymptoms = []string{
	"rocketmq-append-stall", "rocketmq-put-slow", "rocketmq-broker-busy", "rocketmq-flush-slow", "rocketmq-pagecachert-tail", "rocketmq-file-allocation-stall",
	"kafka-request-stall", "kafka-segment-roll-slow", "kafka-controller-slow", "kafka-broker-fenced",
}

// drill provokes a stall with stalldrill on the disk of the store, under more load.
func drill(mode string, length time.Duration, words ...string) func(context.Context, *bench) error {
	return func(ctx context.Context, b *bench) error {
		if len(words) > 0 {
			c, err := b.load(ctx, words...)
			if err != nil {
				return err
			}
			defer c.stop(5 * time.Second)
		}
		_, err := tool(ctx, b.o.drill, "run", mode, "--yes", "--for", length.String(), "--before", "3s", "--dir", b.folder, "--max-disk", "3072MiB")
		return err
	}
}
