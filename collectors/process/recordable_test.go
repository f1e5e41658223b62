package process

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

// secretCommands are command lines with secrets in them, and what is kept.
func secretCommands() map[string][2][]string {
	return map[string][2][]string{
		"rocketmq": {
			{
				"/usr/bin/java", "-server", "-Xmx8g", "-XX:+UseG1GC", "-Xloggc:/dev/shm/gc.log", "-Dsecret=hunter2",
				"-Djavax.net.ssl.keyStorePassword=hunter2", "-javaagent:/a.jar=token=hunter2", "-Drocketmq.home.dir=/opt/rocketmq-4.9.4",
				"-cp", "/opt/conf:/opt/lib/rocketmq-broker-4.9.4.jar:a;b|hunter2", "org.apache.rocketmq.broker.BrokerStartup",
				"-c", "/opt/conf/broker.conf", "-p", "hunter2", "--token=hunter2",
			},
			{
				"/usr/bin/java", "-Xmx8g", "-XX:+UseG1GC", "-Xloggc:/dev/shm/gc.log", "-Drocketmq.home.dir=/opt/rocketmq-4.9.4",
				"-cp", "/opt/conf:/opt/lib/rocketmq-broker-4.9.4.jar", "org.apache.rocketmq.broker.BrokerStartup", "-c", "/opt/conf/broker.conf",
			},
		},
		"kafka": {
			{
				"java", "-Xms1g", "-cp", "/opt/kafka/libs/kafka_2.13-3.7.0.jar", "kafka.Kafka", "/etc/kafka/server.properties",
				"--override", "num.io.threads=8", "--override", "ssl.key.password=hunter2", "hunter2",
			},
			{"java", "-Xms1g", "-cp", "/opt/kafka/libs/kafka_2.13-3.7.0.jar", "kafka.Kafka", "/etc/kafka/server.properties", "--override", "num.io.threads=8"},
		},
		"URL in the class path": {{"java", "-cp", "http://u:hunter2@h/x.jar", "a.B"}, {"java", "a.B"}},
		"other JVM":             {{"java", "-jar", "/srv/app.jar", "hunter2", "--password", "hunter2"}, {"java", "/srv/app.jar"}},
		"no JVM":                {{"mysql", "-phunter2", "hunter2"}, {"mysql"}},
		"title":                 {{"postgres: hunter2 idle"}, {"postgres:"}},
		"nothing to keep":       {{"a;b|hunter2"}, {"?"}},
	}
}

func TestRecordableDropsSecrets(t *testing.T) {
	for name, c := range secretCommands() {
		t.Run(name, func(t *testing.T) {
			in := []byte(strings.Join(c[0], "\x00") + "\x00")
			got := Recordable("proc/42/cmdline", in)
			if want := strings.Join(c[1], "\x00") + "\x00"; string(got) != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
			full, kept := parseCommand("", in), parseCommand("", got)
			if recognise(full) != recognise(kept) || full.main != kept.main {
				t.Errorf("taken for %+v, before %+v", kept, full)
			}
			if !reflect.DeepEqual(sieveFlags(full.options), sieveFlags(kept.options)) {
				t.Errorf("flags %v, before %v", sieveFlags(kept.options), sieveFlags(full.options))
			}
		})
	}
}

func TestRecordableLeavesOtherFiles(t *testing.T) {
	for _, name := range []string{"proc/cmdline", "proc/vmstat", "sys/block/cmdline", "proc/42/stat"} {
		if got := Recordable(name, []byte("x\x00hunter2")); string(got) != "x\x00hunter2" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := Recordable("proc/42/cmdline", nil); len(got) != 0 {
		t.Errorf("a kernel thread: %q", got)
	}
}

func FuzzRecordable(f *testing.F) {
	for _, c := range secretCommands() {
		f.Add([]byte(strings.Join(c[0], "\x00")))
	}
	f.Fuzz(func(t *testing.T, cmdline []byte) {
		got := Recordable("proc/42/cmdline", cmdline)
		if again := Recordable("proc/42/cmdline", got); !bytes.Equal(again, got) {
			t.Errorf("%q, a second time %q", got, again)
		}
	})
}
