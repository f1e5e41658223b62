package process

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"stallmark/collectors"
)

// fakeFiles stands for the files inside the processes' roots.
type fakeFiles map[string]string

func (f fakeFiles) ReadFile(_ ID, path string, _ int) ([]byte, error) {
	text, ok := f[path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

// javaTree is a tree with one process, pid 42, of the given arguments.
func javaTree(args ...string) *collectors.MapRoot {
	return &collectors.MapRoot{
		Files: map[string][]byte{
			"proc/1/stat":     []byte(statOf(1, "init", 'S', 1)),
			"proc/42/stat":    []byte(statOf(42, "java", 'S', 3063)),
			"proc/42/cmdline": []byte(strings.Join(args, "\x00") + "\x00"),
			"proc/42/status":  []byte("Uid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\nGroups:\t1000 \nCapEff:\t0000000000000000\n"),
		},
		Links: map[string]string{"proc/42/cwd": "/opt/run", "proc/42/exe": "/usr/lib/jvm/jre/bin/java"},
		Errs:  map[string]error{},
	}
}

const passwd = "root:x:0:0:root:/root:/bin/sh\nrocketmq:x:1000:1000::/home/rocketmq:/bin/bash\n"

// start scripts as the products ship them, reduced to what tells; the command
// lines are written by hand after the scripts of these versions.
var commandLineCases = []struct {
	name  string
	args  string
	files fakeFiles
	facts map[string]string // below process.42.
}{
	{
		"RocketMQ 4.3 on JDK 8: jars by java.ext.dirs",
		"/usr/java/bin/java -server -Xms8g -Xmx8g -Xmn4g -XX:+UseG1GC -XX:G1HeapRegionSize=16m -XX:MaxDirectMemorySize=15g -verbose:gc -Xloggc:/dev/shm/mq_gc_%p.log -XX:+PrintGCDetails -XX:+AlwaysPreTouch -Djava.ext.dirs=/usr/java/jre/lib/ext:/opt/rocketmq-4.3.0/bin/../lib -cp .:/opt/rocketmq-4.3.0/bin/../conf: org.apache.rocketmq.broker.BrokerStartup -c ../conf/broker.conf",
		fakeFiles{"/opt/conf/broker.conf": "brokerName=a\nstorePathRootDir = /data/store\nflushDiskType=ASYNC_FLUSH\n", "/etc/passwd": passwd},
		map[string]string{
			"role": roleRocketBroker, "version": "4.3.0", "config": "/opt/conf/broker.conf", "store": "/data/store/commitlog",
			"logs": "/home/rocketmq/logs/rocketmqlogs", "gc_log": "/dev/shm/mq_gc_%p.log", "flag.Xmx": "8g", "flag.UseG1GC": "true",
			"flag.MaxDirectMemorySize": "15g", "config.flushDiskType": "ASYNC_FLUSH", "name": roleRocketBroker, "comm": "java",
		},
	},
	{
		"RocketMQ 4.9.4: defaults without a configuration",
		"java -server -Xms8g -XX:-UseBiasedLocking -cp .:/opt/rocketmq/lib/rocketmq-broker-4.9.4.jar:/opt/rocketmq/lib/rocketmq-common-4.9.4.jar org.apache.rocketmq.broker.BrokerStartup -n namesrv:9876",
		fakeFiles{"/etc/passwd": passwd},
		map[string]string{"role": roleRocketBroker, "version": "4.9.4", "store": "/home/rocketmq/store/commitlog", "flag.UseBiasedLocking": "false", "config": "", "flag.n": ""},
	},
	{
		"RocketMQ 5.1 on JDK 11",
		"java --add-exports java.base/jdk.internal.ref=ALL-UNNAMED -Xmx8g -Xlog:gc*:file=/dev/shm/rmq_srv_gc_%p_%t.log:time,tags:filecount=5,filesize=30M -Drmq.logback.configurationFile=/opt/rocketmq-all-5.1.4-bin-release/conf/rmq.broker.logback.xml -cp .:/opt/rocketmq-all-5.1.4-bin-release/bin/../conf:/opt/rocketmq-all-5.1.4-bin-release/bin/../lib/* org.apache.rocketmq.broker.BrokerStartup --configFile=/etc/broker.conf",
		fakeFiles{"/etc/broker.conf": "storePathCommitLog=/d1/cl,/d2/cl\ntransientStorePoolEnable=true\n", "/etc/passwd": passwd},
		map[string]string{
			"role": roleRocketBroker, "version": "5.1.4", "store": "/d1/cl,/d2/cl", "gc_log": "/dev/shm/rmq_srv_gc_%p_%t.log",
			"config.transientStorePoolEnable": "true",
		},
	},
	{
		"RocketMQ 5.3 proxy with the broker inside",
		"java -Xmx8g -cp /opt/lib/rocketmq-proxy-5.3.0.jar org.apache.rocketmq.proxy.ProxyStartup -pm local -bc /etc/broker.conf",
		fakeFiles{"/etc/broker.conf": "storePathRootDir=/data\n", "/etc/passwd": passwd},
		map[string]string{"role": roleRocketBroker, "version": "5.3.0", "store": "/data/commitlog", "config": "/etc/broker.conf"},
	},
	{
		"RocketMQ 5.3 proxy alone",
		"java -cp /opt/lib/rocketmq-proxy-5.3.0.jar org.apache.rocketmq.proxy.ProxyStartup -pc /etc/rmq-proxy.json",
		fakeFiles{"/etc/rmq-proxy.json": `{"proxyMode":"cluster","grpcServerPort":8081,"secretKey":"MARKER"}`},
		map[string]string{"role": roleRocketProxy, "config.proxyMode": "cluster", "store": ""},
	},
	{
		"RocketMQ namesrv",
		"java -Xmx4g -cp /opt/lib/rocketmq-namesrv-4.9.4.jar org.apache.rocketmq.namesrv.NamesrvStartup",
		fakeFiles{"/etc/passwd": passwd},
		map[string]string{"role": roleRocketNamesrv, "version": "4.9.4", "logs": "/home/rocketmq/logs/rocketmqlogs", "store": ""},
	},
	{
		"RocketMQ 3.x",
		"java -cp /opt/alibaba-rocketmq/lib com.alibaba.rocketmq.broker.BrokerStartup -c /etc/broker.p",
		fakeFiles{},
		map[string]string{"role": roleRocketBroker, "config": "/etc/broker.p", "store": ""},
	},
	{
		"Kafka 2.8 with ZooKeeper",
		"java -Xmx1G -Xms1G -server -XX:+UseG1GC -XX:MaxGCPauseMillis=20 -Xlog:gc*:file=/opt/kafka/bin/../logs/kafkaServer-gc.log:time,tags:filecount=10,filesize=100M -Dcom.sun.management.jmxremote -Dkafka.logs.dir=/opt/kafka/bin/../logs -Dlog4j.configuration=file:./../config/log4j.properties -cp /opt/kafka/bin/../libs/activation-1.1.1.jar:/opt/kafka/bin/../libs/kafka-clients-2.8.2.jar:/opt/kafka/bin/../libs/kafka_2.13-2.8.2.jar:/opt/kafka/bin/../libs/zookeeper-3.5.9.jar kafka.Kafka ../config/server.properties",
		fakeFiles{"/opt/config/server.properties": "broker.id=1\nlog.dirs=/kafka/d1, /kafka/d2\nlisteners=SASL_SSL://h:9092\nssl.keystore.password=MARKER\n"},
		map[string]string{
			"role": roleKafkaBroker, "version": "2.8.2", "logs": "/opt/kafka/logs", "gc_log": "/opt/kafka/logs/kafkaServer-gc.log",
			"config.broker.id": "1", "config.listeners": "", "flag.MaxGCPauseMillis": "20", "flag.log4j.configuration": "", "store": "/kafka/d1,/kafka/d2",
		},
	},
	{
		"Kafka 3.7 KRaft broker and controller",
		"java -Xmx1G -Dkafka.logs.dir=/var/log/kafka -cp /opt/kafka/libs/kafka_2.13-3.7.0.jar kafka.Kafka /etc/kafka/kraft.properties --override num.io.threads=16 --override sasl.jaas.config=MARKER",
		fakeFiles{"/etc/kafka/kraft.properties": "process.roles=broker,controller\nlog.dirs=/kafka\nnum.io.threads=8\n"},
		map[string]string{"role": roleKafkaBroker, "version": "3.7.0", "store": "/kafka", "config.num.io.threads": "16"},
	},
	{
		"Kafka 4.0 controller",
		"java -cp /opt/kafka/libs/kafka_2.13-4.0.0.jar kafka.Kafka /etc/kafka/c.properties",
		fakeFiles{"/etc/kafka/c.properties": "process.roles = controller\nlog.dirs=/meta\n"},
		map[string]string{"role": roleKafkaController, "name": roleKafkaController, "version": "4.0.0", "store": "/meta"},
	},
	{
		"Kafka controller, its file not to be read",
		"java -cp /x kafka.Kafka /etc/kafka/controller.properties",
		fakeFiles{},
		map[string]string{"role": roleKafkaController, "store": ""},
	},
	{
		"Confluent's numbers are their own",
		"java -cp /usr/share/java/kafka/kafka-clients-7.4.0-ccs.jar kafka.Kafka /etc/kafka/server.properties",
		fakeFiles{"/etc/kafka/server.properties": ""},
		map[string]string{"role": roleKafkaBroker, "version": "7.4.0-ccs", "store": "/tmp/kafka-logs"},
	},
	{
		"Kafka on a kernel that cuts command lines at a page",
		"java -Xmx1G -Xloggc:/opt/kafka/bin/../logs/kafkaServer-gc.log -Dkafka.logs.dir=/opt/kafka/bin/../logs -cp " + strings.Repeat("/opt/kafka/bin/../libs/x.jar:", 200),
		fakeFiles{},
		map[string]string{"role": roleKafkaBroker, "logs": "/opt/kafka/logs"},
	},
	{
		"ZooKeeper 3.4",
		"java -Dzookeeper.log.dir=/var/log/zk -Dzookeeper.root.logger=INFO,CONSOLE -cp /opt/zk/bin/../zookeeper-3.4.14.jar:/opt/zk/bin/../lib/slf4j.jar -Dcom.sun.management.jmxremote org.apache.zookeeper.server.quorum.QuorumPeerMain /opt/zk/bin/../conf/zoo.cfg",
		fakeFiles{"/opt/zk/conf/zoo.cfg": "tickTime=2000\ndataDir=/zk/data\ndataLogDir=/zk/log\nserver.1=h:2888:3888\n"},
		map[string]string{"role": roleZooKeeper, "version": "3.4.14", "store": "/zk/log", "logs": "/var/log/zk", "config.tickTime": "2000", "config.server.1": ""},
	},
	{
		"ZooKeeper 3.8, standalone by arguments",
		"java -XX:OnOutOfMemoryError=kill_MARKER -Dzookeeper.log.dir=/var/log/zk -cp /opt/zk/lib/zookeeper-jute-3.8.4.jar:/opt/zk/lib/zookeeper-3.8.4.jar org.apache.zookeeper.server.quorum.QuorumPeerMain 2181 /zk/data",
		fakeFiles{},
		map[string]string{"role": roleZooKeeper, "version": "3.8.4", "store": "/zk/data", "flag.OnOutOfMemoryError": ""},
	},
}

func TestCommandLines(t *testing.T) {
	for _, c := range commandLineCases {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, Config{Files: c.files})
			root := javaTree(strings.Fields(c.args)...)
			b.beat(root)
			got := b.beat(root)
			for key, want := range c.facts {
				if v := got.facts["process.42."+key]; v != want {
					t.Errorf("%s is %q, want %q", key, v, want)
				}
			}
			noMarker(t, got)
		})
	}
}

// noMarker fails if a secret came through.
func noMarker(t *testing.T, got beat) {
	t.Helper()
	for k, v := range got.facts {
		if strings.Contains(k+v, "MARKER") {
			t.Errorf("fact %s=%s", k, v)
		}
	}
	for k := range got.values {
		if strings.Contains(k, "MARKER") {
			t.Errorf("series %s", k)
		}
	}
	for _, e := range got.events {
		if strings.Contains(e.Text, "MARKER") {
			t.Errorf("event %s", e.Text)
		}
	}
	for _, c := range got.coverage {
		if strings.Contains(c.Detail+c.Mend, "MARKER") {
			t.Errorf("coverage %+v", c)
		}
	}
}

// TestSecretsAreDropped puts a marker wherever secrets are given to brokers, in
// places of every shape, and lets none of it out.
func TestSecretsAreDropped(t *testing.T) {
	args := []string{
		"/usr/bin/java", "-Djavax.net.ssl.keyStorePassword=MARKER", "-Djava.security.auth.login.config=/MARKER", "-Dsecret", "-DMARKER",
		"-javaagent:/agent.jar=token=MARKER", "-Dcom.sun.management.jmxremote.password.file=/MARKER", "-XX:OnError=mail MARKER", "-XX:Flags=MARKER",
		"-Xmx8gMARKER", "-XX:MaxGCPauseMillis=MARKER", "-Xloggc:http://u:MARKER@h/gc", "-Xlog:gc:file=\"a;MARKER\"", "-Duser.home=/h;MARKER",
		"-Dhttp.proxyPassword=MARKER", "@MARKER", "-Dzookeeper.log.file=a:MARKER", "-Xrunjdwp:MARKER", "-agentlib:MARKER",
		"-cp", "/opt/rocketmq-broker-4.9.4.jar:/MARKER", "org.apache.rocketmq.broker.BrokerStartup", "-c", "/etc/b.conf", "--token", "MARKER",
	}
	files := fakeFiles{"/etc/b.conf": "brokerName=ok\naccessKey=MARKER\nsecretKey=MARKER\nbrokerRole=pass word MARKER\nlistenPort=MARKER\naclFile=/MARKER\n" +
		"storePathRootDir=jdbc://u:MARKER@h/\nMARKER\nMARKER=1\nbrokerClusterName=" + strings.Repeat("x", 80) + "MARKER\n"}
	b := newBench(t, Config{Files: files})
	got := b.beat(javaTree(args...))
	if got.facts["process.42.config.brokerName"] != "ok" {
		t.Fatalf("not recognised: %v", got.facts)
	}
	noMarker(t, got)
}

func TestNotABroker(t *testing.T) {
	for name, change := range map[string]func(*collectors.MapRoot){
		"a shell that starts one": func(r *collectors.MapRoot) {
			r.Files["proc/42/stat"] = []byte(statOf(42, "sh", 'S', 3063))
			r.Files["proc/42/cmdline"] = []byte("sh\x00/opt/bin/runbroker.sh\x00org.apache.rocketmq.broker.BrokerStartup\x00")
		},
		"another program dressed as one": func(r *collectors.MapRoot) { r.Links["proc/42/exe"] = "/usr/bin/sudo" },
		"the class as an argument": func(r *collectors.MapRoot) {
			r.Files["proc/42/cmdline"] = []byte("java\x00-cp\x00/x\x00com.example.Main\x00kafka.Kafka\x00")
		},
		"the class as a class path": func(r *collectors.MapRoot) {
			r.Files["proc/42/cmdline"] = []byte("java\x00-cp\x00kafka.Kafka\x00com.example.Main\x00")
		},
		"an empty command line": func(r *collectors.MapRoot) { r.Files["proc/42/cmdline"] = nil },
		"no permission":         func(r *collectors.MapRoot) { r.Errs["proc/42/cmdline"] = fs.ErrPermission },
	} {
		root := javaTree("java", "-cp", "/x", "kafka.Kafka", "/etc/server.properties")
		change(root)
		got := newBench(t, Config{Files: fakeFiles{}}).beat(root)
		if n := len(sortedKeys(got.values, "stallmark_process_info")); n != 0 {
			t.Errorf("%s: is watched", name)
		}
		if c := got.coverage["brokers"]; c.State != "absent" {
			t.Errorf("%s: coverage %+v", name, c)
		}
	}
}

func TestConfigurationThatCannotBeRead(t *testing.T) {
	refused := filesFunc(func(string) ([]byte, error) { return nil, refuse("the process may not read it") })
	b := newBench(t, Config{Files: refused})
	got := b.beat(javaTree("java", "kafka.Kafka", "/etc/shadow"))
	if c := got.coverage["brokers"]; c.State != "partial" || !strings.Contains(c.Detail, "may not read it") {
		t.Errorf("coverage %+v", c)
	}
	if !errors.Is(refuse("x"), ErrRefused) {
		t.Error("a refusal is not ErrRefused")
	}
}

type filesFunc func(path string) ([]byte, error)

func (f filesFunc) ReadFile(_ ID, path string, _ int) ([]byte, error) { return f(path) }

func FuzzCommandLine(f *testing.F) {
	for _, c := range commandLineCases {
		f.Add([]byte(strings.ReplaceAll(c.args, " ", "\x00")), []byte("log.dirs=/x\n"))
	}
	f.Fuzz(func(t *testing.T, cmdline, config []byte) {
		root := javaTree()
		root.Files["proc/42/cmdline"] = cmdline
		in := inspector{files: filesFunc(func(string) ([]byte, error) { return config, nil })}
		found := in.inspect(root, ID{42, 3063}, "java")
		if found.proc == nil {
			return
		}
		for _, fact := range found.proc.facts {
			if !kindPath.fits(fact.value) && !strings.HasSuffix(fact.key, ".flag.Xlog") {
				t.Errorf("fact %q = %q", fact.key, fact.value)
			}
		}
	})
}
