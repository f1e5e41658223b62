package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// configureKafka writes a single node that is broker and controller, and formats its store.
func (b *broker) configureKafka(ctx context.Context) error {
	conf := strings.Join([]string{
		"process.roles=broker,controller", "node.id=1", "controller.quorum.voters=1@127.0.0.1:19093",
		"listeners=PLAINTEXT://127.0.0.1:19092,CONTROLLER://127.0.0.1:19093", "advertised.listeners=PLAINTEXT://127.0.0.1:19092",
		"controller.listener.names=CONTROLLER", "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
		"log.dirs=" + b.in("store"), "offsets.topic.replication.factor=1", "transaction.state.log.replication.factor=1",
		"transaction.state.log.min.isr=1", "group.initial.rebalance.delay.ms=0", "message.max.bytes=16777216", "log.segment.bytes=268435456", "",
	}, "\n")
	if err := b.write(conf, "conf", "server.properties"); err != nil {
		return err
	}
	layout := b.kafkaLayout()
	text, err := os.ReadFile(filepath.Join(b.o.sources, "conf", layout))
	if err != nil {
		return err
	}
	if err := b.write(string(text), "conf", layout); err != nil {
		return err
	}
	_, err = tool(ctx, "java", "-Xmx256m", "-cp", b.jars+"/*", "kafka.tools.StorageTool", "format", "-t", "bGFiLWxhYi1sYWItbGFiMQ",
		"-c", b.in("conf", "server.properties"))
	return err
}

func (b *broker) kafkaLayout() string {
	if strings.HasPrefix(b.version, "3.") {
		return "log4j.properties"
	}
	return "log4j2.yaml"
}

// startKafka uses the options of kafka-run-class.sh, but for the size of the heap.
func (b *broker) startKafka(ctx context.Context) error {
	logging := "-Dlog4j.configuration=file:" + b.in("conf", "log4j.properties")
	if b.kafkaLayout() != "log4j.properties" {
		logging = "-Dlog4j2.configurationFile=" + b.in("conf", b.kafkaLayout())
	}
	// The shipped scripts name every jar, not a pattern.
	list, err := filepath.Glob(filepath.Join(b.jars, "*.jar"))
	if err != nil {
		return err
	}
	args := []string{
		fmt.Sprintf("-Xmx%dm", b.heap), fmt.Sprintf("-Xms%dm", b.heap), "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20",
		"-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent", "-XX:MaxInlineLevel=15", "-Djava.awt.headless=true",
		"-Xlog:gc*:file=" + b.in("logs", "kafkaServer-gc.log") + ":time,tags:filecount=10,filesize=100M",
		"-Dkafka.logs.dir=" + b.in("logs"), logging, "-cp", strings.Join(list, ":"), "kafka.Kafka", b.in("conf", "server.properties"),
	}
	return b.begin(ctx, b.in("logs", "kafkaServer.out"), kafkaBroker, nil, args)
}
