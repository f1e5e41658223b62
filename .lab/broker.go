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

// restart ends the broker and starts it with another heap, in MiB.
func (b *broker) restart(ctx context.Context, heap int) error {
	b.main.stop(30 * time.Second)
	b.heap = heap
	return b.start(ctx)
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
}

// write writes a file of its folder.
func (b *broker) write(text string, parts ...string) error {
	return os.WriteFile(b.in(parts...), []byte(text), 0o644)
}
