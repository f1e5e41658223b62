package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// trials are what every broker goes through, in this order: from the harmless to what leaves it in another shape.
func trials() []trial {
	return []trial{
		{
			name: "found", provoked: "nothing: is it found by itself, with store, logs and GC log?",
			provoke: func(ctx context.Context, b *bench) error { return b.found(ctx) },
		},
		{name: "quiet", provoked: "nothing: load, a consumer that always fails", settle: 20 * time.Second, provoke: nothing},
		{
			name: "dirty", provoked: "writers at a dirty limit of 64 MiB beside the broker (stalldrill)", root: true, settle: 8 * time.Second,
			causes: []string{"dirty-throttling"}, symptoms: append([]string{"gc-io-stall"}, appendSymptoms...),
			also: besideDirty, silent: "kafka", provoke: drill("dirty-throttling", 25*time.Second, "produce:bulk:300:65536"),
		},
		{
			name: "freeze", provoked: "the broker is stopped for 12 s (SIGSTOP), longer than clients and controllers wait", settle: 10 * time.Second,
			causes: []string{"process-stopped"}, symptoms: []string{"rocketmq-request-timeout", "kafka-broker-fenced"}, provoke: freeze(12 * time.Second),
		},
		{
			name: "large", provoked: "messages of 3 MB at a dirty limit of 64 MiB", root: true, settle: 8 * time.Second,
			causes: []string{"dirty-throttling"}, symptoms: append([]string{"gc-io-stall"}, appendSymptoms...), also: besideDirty, silent: "kafka", check: largeNamed,
			provoke: drill("dirty-throttling", 25*time.Second, "produce:large:8:3000000", "produce:large:8:3000000"),
		},
		{
			name: "lag", provoked: "a new consumer reads 2 GB that are not in memory, beside the producers", root: true, settle: 5 * time.Second,
			prepare: backlog, causes: []string{"catch-up-cold-reads"}, check: lateNamed,
			also: []string{"disk-saturation", "disk-slow", "mmap-fault-stall"}, provoke: underLoad(45*time.Second, "slow:old:lab-late"),
		},
		{
			name: "memory", provoked: "the broker's control group is made too small for its page cache", root: true, settle: 5 * time.Second,
			causes: []string{"memcg-reclaim"}, also: []string{"catch-up-cold-reads", "retry-queue-cold-reads", "disk-saturation"}, provoke: squeeze(30 * time.Second),
		},
		{
			name: "retry", provoked: "%RETRY% has grown all the time: is it told from the log?", product: "rocketmq", provoke: retried,
		},
		{
			name: "gc", provoked: "a heap that is too small for large messages", settle: 5 * time.Second,
			causes: []string{"gc-stop-the-world"}, also: append([]string{"gc-io-stall"}, coldReads...), provoke: tinyHeap, // it reads its store at its start
		},
	}
}

// besideDirty is what throttled writers make true too; stalldrill deletes its files at the end.
var besideDirty = []string{"disk-saturation", "disk-slow", "fsync-stall", "writeback-churn", "gc-io-stall", "file-deletion-io"}

// coldReads are the causes that speak of old data.
var coldReads = []string{"catch-up-cold-reads", "retry-queue-cold-reads"}

// appendSymptoms are what brokers say of a slow append; Kafka's log as it is shipped says nothing of it.
var appendSymptoms = []string{
	"rocketmq-append-stall", "rocketmq-put-slow", "rocketmq-broker-busy", "rocketmq-flush-slow", "rocketmq-pagecachert-tail", "rocketmq-file-allocation-stall",
	"kafka-request-stall", "kafka-segment-roll-slow", "kafka-controller-slow", "kafka-broker-fenced",
}

func nothing(context.Context, *bench) error { return nil }

// drill provokes a stall with stalldrill on the disk of the store, under more load.
func drill(mode string, length time.Duration, words ...string) func(context.Context, *bench) error {
	return func(ctx context.Context, b *bench) error {
		c, err := b.load(ctx, words...)
		if err != nil {
			return err
		}
		defer c.stop(5 * time.Second)
		for range 2 { // a disk that others keep busy may hold the writers back before the limit does: then once more
			_, err = tool(ctx, b.o.drill, "run", mode, "--yes", "--for", length.String(), "--before", "3s", "--dir", b.folder, "--max-disk", "3072MiB")
			if err == nil || ctx.Err() != nil {
				break
			}
		}
		return err
	}
}

// underLoad adds load for a time.
func underLoad(length time.Duration, words ...string) func(context.Context, *bench) error {
	return func(ctx context.Context, b *bench) error {
		c, err := b.load(ctx, words...)
		if err != nil {
			return err
		}
		defer c.stop(5 * time.Second)
		return pause(ctx, length)
	}
}

// freeze stops the broker, as a debugger or a stopped container would.
func freeze(length time.Duration) func(context.Context, *bench) error {
	return func(ctx context.Context, b *bench) error {
		pid := b.main.pid()
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			return err
		}
		defer func() { _ = syscall.Kill(pid, syscall.SIGCONT) }()
		return pause(ctx, length)
	}
}

// backlog leaves data on the disk that is not in memory, as after a restart of the host: it is written, the broker is
// stopped, the pages of its files are dropped, and it is started again.
func backlog(ctx context.Context, b *bench) error {
	c, err := b.load(ctx, "produce:old:800:65536:32000")
	if err != nil {
		return err
	}
	select {
	case <-c.done:
	case <-time.After(2 * time.Minute):
		c.stop(time.Second)
	case <-ctx.Done():
		return ctx.Err()
	}
	b.main.stop(30 * time.Second)
	if err := b.forget(); err != nil {
		return err
	}
	// RocketMQ logs how far groups are behind at the first whole minute after its start, and then every five minutes.
	if err := pause(ctx, time.Until(time.Now().Truncate(time.Minute).Add(time.Minute))); err != nil {
		return err
	}
	if err := b.start(ctx); err != nil {
		return err
	}
	return pause(ctx, 20*time.Second) // what it read at its own start is over
}

// forget drops the store from memory by advice, which leaves no trace in the kernel's counters. Mapped pages stay, so the broker must not run.
func (b *bench) forget() error {
	return filepath.WalkDir(b.in("store"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := f.Sync(); err != nil { // dirty pages cannot be dropped
			return err
		}
		return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
	})
}

// squeeze leaves the broker little more memory than what is not page cache.
func squeeze(length time.Duration) func(context.Context, *bench) error {
	return func(ctx context.Context, b *bench) error {
		all := int64(b.heap+384) << 20 // a JVM that has not touched all of its heap yet, and its buffers, would be killed
		restore, err := b.group.squeeze(all, 128<<20)
		if err != nil {
			return err
		}
		defer restore()
		return underLoad(length, "produce:bulk:300:65536", "consume:old:lab-later")(ctx, b)
	}
}

// tinyHeap starts the broker anew with a heap in which large messages hardly fit.
func tinyHeap(ctx context.Context, b *bench) error {
	heap := 112
	if b.product == "kafka" {
		heap = 224 // its log cleaner alone allocates 128 MiB at the start
	}
	b.main.stop(30 * time.Second)
	b.heap = heap
	if err := b.start(ctx); err != nil {
		return err
	}
	words := []string{"produce:huge:20:4000000", "produce:huge:20:4000000", "produce:huge:20:4000000", "consume:huge:lab-huge"}
	return underLoad(40*time.Second, words...)(ctx, b)
}
