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
			also: besideDirty, provoke: drill("dirty-throttling", 25*time.Second, "produce:bulk:300:65536"),
		},
		{
			name: "freeze", provoked: "the broker is stopped for 6 s (SIGSTOP)", settle: 10 * time.Second,
			causes: []string{"process-stopped"}, provoke: freeze(6 * time.Second),
		},
		{
			name: "large", provoked: "messages of 3 MB at a dirty limit of 64 MiB", root: true, settle: 8 * time.Second, product: "rocketmq",
			causes: []string{"dirty-throttling"}, symptoms: appendSymptoms, also: besideDirty, check: largeNamed,
			provoke: drill("dirty-throttling", 25*time.Second, "produce:large:8:3000000", "produce:large:8:3000000"),
		},
		{
			name: "lag", provoked: "a new consumer reads 1.2 GB that are not in memory", root: true, settle: 5 * time.Second,
			causes: coldReads,
			also:   []string{"disk-saturation", "disk-slow", "memcg-reclaim", "mmap-fault-stall"}, provoke: lag,
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
			causes: []string{"gc-stop-the-world"}, also: append([]string{"gc-io-stall"}, coldReads...), provoke: tinyHeap, // what was evicted before is still cold
		},
	}
}

// besideDirty is what throttled writers make true too; stalldrill deletes its files at the end.
var besideDirty = []string{"disk-saturation", "disk-slow", "fsync-stall", "writeback-churn", "gc-io-stall", "file-deletion-io"}

// coldReads are the causes that speak of old data.
var coldReads = []string{"catch-up-cold-reads", "retry-queue-cold-reads"}

// appendSymptoms are what brokers say of a slow append.
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

// lag lets a consumer begin at data that has left memory.
func lag(ctx context.Context, b *bench) error {
	c, err := b.load(ctx, "produce:old:800:65536:19200")
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
	syscall.Sync() // dirty pages cannot be dropped
	if err := b.forget(); err != nil {
		return err
	}
	// Some time after it was evicted it is no longer what had just been there.
	return underLoad(65*time.Second, "slow:old:lab-late")(ctx, b)
}

// forget drops the store from memory: Kafka's files are read, not mapped, and can be dropped by advice, which leaves no
// trace; RocketMQ's mapped ones must be reclaimed.
func (b *bench) forget() error {
	if b.product != "kafka" {
		return b.group.drop()
	}
	return filepath.WalkDir(b.in("store"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // a segment may go meanwhile
		}
		f, err := os.Open(path)
		if err != nil {
			return nil
		}
		defer f.Close()
		return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
	})
}

// squeeze leaves the broker little more memory than what is not page cache.
func squeeze(length time.Duration) func(context.Context, *bench) error {
	return func(ctx context.Context, b *bench) error {
		restore, err := b.group.squeeze(128 << 20)
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
	if err := b.restart(ctx, heap); err != nil {
		return err
	}
	words := []string{"produce:huge:20:4000000", "produce:huge:20:4000000", "produce:huge:20:4000000", "consume:huge:lab-huge"}
	return underLoad(40*time.Second, words...)(ctx, b)
}
