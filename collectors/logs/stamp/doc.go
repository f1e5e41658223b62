// Package stamp finds the time stamp of a log line and turns it into UTC.
//
// [Find] reads the stamps of RocketMQ, Kafka, ZooKeeper, BookKeeper, etcd, Redis,
// Elasticsearch, RabbitMQ, syslog, journald (JSON), the kernel's ring buffer,
// JSON layouts and container prefixes. Most of them say neither zone nor more
// than whole seconds, so a [Clock], one for each source, keeps what is known of
// the source's zone, why it is believed, and how far off a time can be.
//
// A line that has no stamp of its own (a stack trace) belongs to the line
// before it that has one: [Before] finds that.
package stamp
