package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// broker is one real broker and what belongs to it.
type broker struct {
	o       options
	product string
	version string
	jars    string
	folder  string // its home, store, logs, and what Stallmark keeps of it
	heap    int    // MiB

	group   group // where root can make one
	main    *child
	helpers []*child // name server
	loads   []*child
}

// The addresses of all brokers: only one runs at a time.
const (
	nameServer   = "127.0.0.1:19876"
	rocketBroker = "127.0.0.1:20911"
	kafkaBroker  = "127.0.0.1:19092"
)

// usualHeap is small, and enough for every case but the one of GC pressure.
const usualHeap = 512

// newBroker brings the jars and makes the folders.
func newBroker(ctx context.Context, o options, name string) (*broker, error) {
	product, version, ok := strings.Cut(name, "-")
	if !ok || product != "rocketmq" && product != "kafka" {
		return nil, fmt.Errorf("%q: want rocketmq-VERSION or kafka-VERSION", name)
	}
	lib, err := jars(ctx, o, product, version)
	if err != nil {
		return nil, err
	}
	b := &broker{o: o, product: product, version: version, jars: lib, folder: filepath.Join(o.dir, name), heap: usualHeap}
	if err := os.RemoveAll(b.folder); err != nil {
		return nil, err
	}
	for _, sub := range []string{"conf", "home", "store", "logs", "gc", "data"} {
		if err := os.MkdirAll(filepath.Join(b.folder, sub), 0o755); err != nil {
			return nil, err
		}
	}
	b.group, _ = newGroup(name) // the cases that need it say that there is none
	return b, b.configure(ctx)
}

func (b *broker) name() string { return b.product + "-" + b.version }
func (b *broker) in(parts ...string) string {
	return filepath.Join(append([]string{b.folder}, parts...)...)
}

// configure writes its configuration.
func (b *broker) configure(ctx context.Context) error {
	if b.product == "kafka" {
		return b.configureKafka(ctx)
	}
	return b.configureRocket()
}

// start starts it, and what it cannot be without.
func (b *broker) start(ctx context.Context) error {
	if b.product == "kafka" {
		return b.startKafka(ctx)
	}
	return b.startRocket(ctx)
}

// begin starts the broker's own JVM, in its control group from the first page of its store on.
func (b *broker) begin(ctx context.Context, output, address string, env, args []string) (err error) {
	if b.main, err = start(output, b.folder, env, "java", args...); err != nil {
		return err
	}
	if b.group.folder != "" {
		if err := b.group.take(b.main.pid()); err != nil {
			return err
		}
	}
	if err := listening(ctx, b.main, address, 60*time.Second); err != nil {
		return err
	}
	return pause(ctx, 3*time.Second) // it registers itself
}

// load starts a client with these words, see load/*.java.
func (b *broker) load(ctx context.Context, words ...string) (*child, error) {
	source, address := "RocketLoad.java", nameServer
	if b.product == "kafka" {
		source, address = "KafkaLoad.java", kafkaBroker
	}
	args := []string{"-Xmx256m", "-XX:+UseSerialGC", "-Duser.home=" + b.in("client"), "-Drocketmq.log.root=" + b.in("client"), "-cp", b.jars + "/*"}
	args = append(args, filepath.Join(b.o.sources, "load", source), address)
	c, err := start(b.in("load.out"), b.folder, nil, "java", append(args, words...)...)
	if err == nil {
		b.loads = append(b.loads, c)
	}
	return c, err
}

// warm waits until clients both send and receive, and a little longer: first sends of a JVM are slow.
func (b *broker) warm(ctx context.Context) error {
	for range 60 {
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
		text, _ := os.ReadFile(b.in("load.out"))
		for line := range strings.Lines(string(text)) {
			var sent, failed, worst, consumed int
			if n, _ := fmt.Sscanf(line, "sent %d failed %d worst_ms %d consumed %d", &sent, &failed, &worst, &consumed); n == 4 && sent > 0 && consumed > 0 {
				return pause(ctx, 10*time.Second)
			}
		}
	}
	return fmt.Errorf("the clients neither send nor receive; see %s", b.in("load.out"))
}

// stop ends everything of it.
func (b *broker) stop() {
	for _, c := range b.loads {
		c.stop(5 * time.Second)
	}
	b.loads = nil
	b.main.stop(30 * time.Second)
	for _, c := range b.helpers {
		c.stop(10 * time.Second)
	}
	b.helpers, b.main = nil, nil
	b.group.remove()
}

// write writes a file of its folder.
func (b *broker) write(text string, parts ...string) error {
	return os.WriteFile(b.in(parts...), []byte(text), 0o644)
}
