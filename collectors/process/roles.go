package process

import (
	"slices"
	"strings"
)

// The roles of processes: values of the label role of stallmark_process_info.
const (
	roleRocketBroker    = "rocketmq-broker"
	roleRocketNamesrv   = "rocketmq-namesrv"
	roleRocketProxy     = "rocketmq-proxy"
	roleKafkaBroker     = "kafka-broker"
	roleKafkaController = "kafka-controller"
	roleZooKeeper       = "zookeeper"
	roleJVM             = "jvm"
	roleOther           = "other"
)

// roleInfo is what is known of a kind of broker.
type roleInfo struct {
	mains  []string             // main classes
	jars   []string             // what stands before the version in names of jars and folders
	config func(command) string // the configuration file as the command line names it
	keys   map[string]valueKind
}

// roles by name. The controller of a KRaft cluster is started like the broker
// and told apart by its configuration.
var roles = map[string]roleInfo{
	roleRocketBroker: {
		mains: []string{
			"org.apache.rocketmq.broker.BrokerStartup", "org.apache.rocketmq.container.BrokerContainerStartup",
			"com.alibaba.rocketmq.broker.BrokerStartup", // 3.x
		},
		jars:   rocketJars,
		config: func(c command) string { return c.option("-bc", "--brokerConfigPath", "-c", "--configFile") },
		keys:   rocketKeys,
	},
	roleRocketNamesrv: {
		mains:  []string{"org.apache.rocketmq.namesrv.NamesrvStartup", "com.alibaba.rocketmq.namesrv.NamesrvStartup"},
		jars:   rocketJars,
		config: func(c command) string { return c.option("-c", "--configFile") },
		keys:   rocketKeys,
	},
	roleRocketProxy: {
		mains:  []string{"org.apache.rocketmq.proxy.ProxyStartup"},
		jars:   rocketJars,
		config: func(c command) string { return c.option("-pc", "--proxyConfigPath") },
		keys:   rocketKeys,
	},
	roleKafkaBroker: {
		mains:  []string{"kafka.Kafka", "io.confluent.support.metrics.SupportedKafka"},
		jars:   kafkaJars,
		config: func(c command) string { return c.first() },
		keys:   kafkaKeys,
	},
	roleKafkaController: {
		jars:   kafkaJars,
		config: func(c command) string { return c.first() },
		keys:   kafkaKeys,
	},
	roleZooKeeper: {
		mains: []string{
			"org.apache.zookeeper.server.quorum.QuorumPeerMain", "org.apache.zookeeper.server.ZooKeeperServerMain",
		},
		jars:   []string{"zookeeper-"},
		config: func(c command) string { return c.first() },
		keys:   zooKeys,
	},
}

var rocketJars = []string{
	"rocketmq-broker-", "rocketmq-namesrv-", "rocketmq-proxy-", "rocketmq-store-", "rocketmq-common-", "rocketmq-all-", "rocketmq-",
}

var kafkaJars = []string{"kafka_2.13-", "kafka_2.12-", "kafka_2.11-", "kafka_2.10-", "kafka-clients-"}

// recognise tells the role by the main class, empty if it is no broker's.
func recognise(c command) string {
	if !c.java {
		return ""
	}
	for name, r := range roles {
		if slices.Contains(r.mains, c.main) {
			if name == roleRocketProxy && embedsBroker(c) {
				return roleRocketBroker
			}
			return name
		}
	}
	if c.main == "" {
		return recogniseCut(c)
	}
	return ""
}

// embedsBroker reports whether a proxy runs the broker in its own process
// (mqbroker --enable-proxy, 5.0 and later).
func embedsBroker(c command) bool {
	return strings.EqualFold(c.option("-pm", "--proxyMode"), "local") || c.option("-bc", "--brokerConfigPath") != ""
}

// recogniseCut tells Kafka and its ZooKeeper on kernels before 4.2: the class
// path alone fills the page at which they cut a command line, so the main class
// is missing; the start scripts name the GC log after the program.
func recogniseCut(c command) string {
	for _, o := range c.options {
		switch {
		case !strings.HasPrefix(o, "-Xlog") && !strings.HasPrefix(o, "-Xloggc"):
		case strings.Contains(o, "kafkaServer-gc.log"):
			return roleKafkaBroker
		case strings.Contains(o, "zookeeper-gc.log"):
			return roleZooKeeper
		}
	}
	return ""
}

// versionOfJar finds the version behind one of the prefixes in a path or class
// path: 4.9.4 in /opt/rocketmq/lib/rocketmq-broker-4.9.4.jar.
func versionOfJar(prefixes []string, text string) string {
	for _, p := range prefixes {
		for rest := text; ; {
			i := strings.Index(rest, p)
			if i < 0 {
				break
			}
			rest = rest[i+len(p):]
			if v := leadingVersion(rest); v != "" {
				return v
			}
		}
	}
	return ""
}

// leadingVersion is the run of digits and dots at the start of a text, if it
// has both; with the mark of Confluent's builds, whose numbers are their own.
func leadingVersion(s string) string {
	n := 0
	for n < len(s) && n < 24 && (s[n] >= '0' && s[n] <= '9' || s[n] == '.') {
		n++
	}
	v := strings.TrimRight(s[:n], ".")
	if v == "" || v[0] == '.' || !strings.Contains(v, ".") {
		return ""
	}
	for _, mark := range []string{"-ccs", "-ce"} {
		if strings.HasPrefix(s[len(v):], mark) {
			return v + mark
		}
	}
	return v
}
