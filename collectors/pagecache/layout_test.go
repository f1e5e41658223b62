package pagecache

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
)

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		in   folder
		name string
		want string // a folder's place and kind, or a file's kind, series and number
	}{
		{folder{place: rocketRoot}, "commitlog", "folder 5 commitlog"},
		{folder{place: rocketRoot}, "consumequeue", "folder 3 consumequeue"},
		{folder{place: rocketRoot}, "batchconsumequeue", "folder 3 consumequeue"},
		{folder{place: rocketRoot}, "index", "folder 6 index"},
		{folder{place: rocketRoot}, "timerlog", "folder 5 other"},
		{folder{place: rocketRoot, kind: Other}, "timerwheel", "other  timerwheel"},
		{folder{place: rocketRoot}, "dledger-n0", "folder 2 "},
		{folder{place: rocketRoot}, "config", ""},
		{folder{place: rocketRoot}, "abort", ""},
		{folder{"dledger-n0", rocketDLedger, ""}, "data", "folder 5 commitlog"},
		{folder{"dledger-n0", rocketDLedger, ""}, "index", "folder 5 index"},
		{folder{"dledger-n0", rocketDLedger, ""}, "checkpoint", ""},
		{folder{"consumequeue", rocketTopics, ConsumeQueue}, "%DLQ%my|group", "folder 4 consumequeue"},
		{folder{"consumequeue/t", rocketQueues, ConsumeQueue}, "12", "folder 5 consumequeue"},
		{folder{"consumequeue/t", rocketQueues, ConsumeQueue}, "x", ""},
		{folder{"commitlog", rocketFiles, CommitLog}, "00000000001073741824", "commitlog commitlog 00000000001073741824"},
		{folder{"commitlog", rocketFiles, CommitLog}, "0000000000107374182", ""},
		{folder{"index", rocketIndex, Index}, "20260102030405678", "index index 20260102030405678"},
		{folder{place: kafkaLogs}, "orders-eu.v2-17", "folder 8 "},
		{folder{place: kafkaLogs}, "orders-eu.v2-17.0123456789abcdef0123456789abcdef-delete", "folder 8 "},
		{folder{place: kafkaLogs}, "meta.properties", ""},
		{folder{place: kafkaLogs}, "cleaner-offset-checkpoint", ""},
		{folder{"t-0", kafkaPartition, ""}, "00000000000000000042.log", "log t-0/*.log 00000000000000000042"},
		{folder{"t-0", kafkaPartition, ""}, "00000000000000000042.log.deleted", "log t-0/*.log 00000000000000000042"},
		{folder{"t-0", kafkaPartition, ""}, "00000000000000000042.timeindex", "index t-0/*.timeindex 00000000000000000042"},
		{folder{"t-0", kafkaPartition, ""}, "00000000000000000042.snapshot", "other t-0/*.snapshot 00000000000000000042"},
		{folder{"t-0", kafkaPartition, ""}, "00000000000000000042.log.cleaned", ""},
		{folder{"t-0", kafkaPartition, ""}, "00000000000000000042", ""},
		{folder{"t-0", kafkaPartition, ""}, "partition.metadata", ""},
		{folder{place: zooData}, "version-2", "folder 10 "},
		{folder{"version-2", zooFiles, ""}, "log.1a2b", "log version-2/log 1a2b"},
		{folder{"version-2", zooFiles, ""}, "snapshot.0", "other version-2/snapshot 0"},
		{folder{"version-2", zooFiles, ""}, "log.", ""},
		{folder{"version-2", zooFiles, ""}, "acceptedEpoch", ""},
		{folder{place: rocketRoot}, "..", ""},
		{folder{place: rocketTopics}, ".", ""},
		{folder{place: rocketTopics}, "a/b", ""},
	} {
		if got := describe(c.in.classify(c.name)); got != c.want {
			t.Errorf("%+v %q: %q, want %q", c.in, c.name, got, c.want)
		}
	}
}

func describe(sub folder, file dataFile, isFolder, isFile bool) string {
	switch {
	case isFolder:
		return fmt.Sprintf("folder %d %s", sub.place, sub.kind)
	case isFile:
		return string(file.kind) + " " + file.series + " " + file.number
	}
	return ""
}

func TestStores(t *testing.T) {
	for _, c := range []struct {
		role, store string
		want        []store
	}{
		{"rocketmq-broker", "/data/store/commitlog", []store{{"/data/store", folder{place: rocketRoot, kind: Other}}}},
		{"rocketmq-broker", "/d1/store/commitlog,/d2/clog", []store{
			{"/d1/store", folder{place: rocketRoot, kind: Other}}, {"/d2/clog", folder{place: rocketFiles, kind: CommitLog}},
		}},
		{"rocketmq-broker", "/commitlog", []store{{"/commitlog", folder{place: rocketFiles, kind: CommitLog}}}},
		{"kafka-broker", "/k1/,/k2,/k1", []store{{"/k1", folder{place: kafkaLogs}}, {"/k2", folder{place: kafkaLogs}}}},
		{"zookeeper", "/z", []store{{"/z", folder{place: zooData}}}},
		{"other", "/x/commitlog", []store{{"/x", folder{place: rocketRoot, kind: Other}}}},
		{"kafka-broker", "", nil},
		{"kafka-broker", "relative", nil},
	} {
		if got := (Broker{Role: c.role, Store: c.store}).stores(); !slices.Equal(got, c.want) {
			t.Errorf("%s %q: %+v, want %+v", c.role, c.store, got, c.want)
		}
	}
}

func TestLivingName(t *testing.T) {
	for name, want := range map[string]string{
		"t-0/00000000000000000000.log.deleted":                                 "t-0/00000000000000000000.log",
		"t-0.0123456789abcdef0123456789abcdef-delete/00000000000000000000.log": "t-0/00000000000000000000.log",
		"t-0/00000000000000000000.log":                                         "t-0/00000000000000000000.log",
		"a-delete/0":                                                           "a-delete/0",
		"x.deleted":                                                            "x",
		"consumequeue/t-delete/0/1":                                            "consumequeue/t-delete/0/1",
	} {
		if got := livingName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestOlder(t *testing.T) {
	for _, c := range [][2]string{{"00", "01"}, {"ff", "100"}, {"9", "a"}} {
		if !older(c[0], c[1]) || older(c[1], c[0]) || older(c[0], c[0]) {
			t.Errorf("%q is older than %q", c[0], c[1])
		}
	}
}

// FuzzClassify: whatever a name is, nothing leads out of the folder, what is
// taken has only plain characters, and a file knows its series.
func FuzzClassify(f *testing.F) {
	for _, name := range []string{"commitlog", "00000000000000000000", "00000000000000000000.log.deleted", "t-0", "..", "log.1f", "a/b", "\n", "%RETRY%g"} {
		for p := rocketRoot; p <= zooFiles; p++ {
			f.Add(byte(p), name)
		}
	}
	f.Fuzz(func(t *testing.T, p byte, name string) {
		in := folder{"above", rocketRoot + place(p)%zooFiles, CommitLog}
		sub, file, isFolder, isFile := in.classify(name)
		if isFolder && isFile {
			t.Error("both a folder and a file")
		}
		if isFolder && path.Dir(sub.path) != "above" || isFile && path.Dir(file.path) != "above" {
			t.Errorf("%q leads to %q, %q", name, sub.path, file.path)
		}
		if (isFolder || isFile) && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-%|") != "" {
			t.Errorf("%q was taken", name)
		}
		if isFile && (file.series == "" || file.number == "" || file.kind == "" || file.ahead < 1) {
			t.Errorf("%q: %+v", name, file)
		}
		if living := livingName(file.path); isFile && path.Base(living) == "" {
			t.Errorf("%q: living name %q", file.path, living)
		}
	})
}
