package pagecache

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stallmark/storage/model"
)

func TestSumsByKindAndAge(t *testing.T) {
	d := newDisk()
	for i := range 5 { // pages resident: 10, 20, 30, 40, 50
		d.put(segment("/s/commitlog", i), 64, 10+10*i)
	}
	d.files[segment("/s/commitlog", 0)].modified = epoch.Add(-time.Hour)
	d.files[segment("/s/commitlog", 1)].modified = epoch.Add(-time.Hour)
	d.files[segment("/s/commitlog", 4)].dirty = 7
	d.put(segment("/s/consumequeue/%RETRY%group/0", 0), 3, 2)
	d.put("/s/index/20260102030405678", 8, 8)
	d.put("/s/lock", 1, 1)
	b := newBench(t, d, Config{}, rocket)
	b.beat()
	b.wantGap(model.SourcePartial, "under way")
	b.wantNone("resident_bytes old commitlog")
	b.pass()
	if b.coverage != nil {
		t.Errorf("coverage %v", b.coverage)
	}
	b.want("resident_bytes old commitlog", 30*fakePage)
	b.want("resident_bytes recent commitlog", 30*fakePage)
	b.want("resident_bytes active commitlog", 90*fakePage)
	b.want("dirty_bytes active commitlog", 7*fakePage)
	b.want("file_bytes old commitlog", 128*fakePage)
	b.want("files active commitlog", 2)
	b.want("resident_bytes active consumequeue", 2*fakePage)
	b.want("resident_bytes active index", 8*fakePage)
	b.want("filled_bytes_total old commitlog", 0)
	b.want("deleted_files_total commitlog", 0)
	if slices.Contains(d.opened, "/s/lock") {
		t.Error("opened a file that holds no messages")
	}
	if d.open_ != 0 {
		t.Errorf("%d files are still open", d.open_)
	}
}

func TestKafkaSums(t *testing.T) {
	d := newDisk()
	for _, dir := range []string{"/k1/t-0", "/k2/t-1"} {
		d.put(segment(dir, 0)+".log", 16, 4)
		d.put(segment(dir, 9)+".log", 16, 8)
		d.put(segment(dir, 9)+".index", 2, 1)
		d.put(segment(dir, 9)+".timeindex", 2, 1)
		d.put(segment(dir, 9)+".snapshot", 1, 1)
		d.put(dir+"/leader-epoch-checkpoint", 1, 1)
	}
	b := newBench(t, d, Config{Recent: time.Hour}, kafka)
	b.pass()
	b.want("resident_bytes active log kafka-broker", 16*fakePage)
	b.want("resident_bytes recent log kafka-broker", 8*fakePage)
	b.want("resident_bytes active index kafka-broker", 4*fakePage)
	b.want("resident_bytes active other kafka-broker", 2*fakePage)
}

func TestOldBytesThatComeIn(t *testing.T) {
	d := newDisk()
	for i := range 4 {
		d.put(segment("/s/commitlog", i), 64<<10, 0)
	}
	d.now = epoch.Add(time.Hour)
	b := newBench(t, d, Config{}, rocket)
	b.at = d.now
	b.pass()
	first := b.at
	for i := range 3000 { // one part is read, another leaves
		d.files[segment("/s/commitlog", 1)].resident[20<<10+i] = true
	}
	b.pass()
	for i := range 2000 {
		d.files[segment("/s/commitlog", 1)].resident[20<<10+i] = false
		d.files[segment("/s/commitlog", 1)].resident[50<<10+i] = true
	}
	b.pass()
	b.want("filled_bytes_total old commitlog", 5000*fakePage)
	b.want("dropped_bytes_total old commitlog", 2000*fakePage)
	if len(b.events) != 2 {
		t.Fatalf("%d events, want two", len(b.events))
	}
	e := b.events[0]
	if e.Kind != model.EventFiles || e.Attrs["change"] != "read" || e.Attrs["file"] != segment("commitlog", 1) || e.Attrs["bytes"] != fmt.Sprint(3000*fakePage) {
		t.Errorf("event %+v", e)
	}
	if e.From.After(first) || !e.To.After(first) {
		t.Errorf("event from %v to %v, want around %v", e.From, e.To, first)
	}
}

func TestAnotherFileUnderTheName(t *testing.T) {
	d := newDisk()
	name := segment("/s/commitlog", 0)
	d.put(name, 640, 0)
	b := newBench(t, d, Config{}, rocket)
	b.pass()
	d.put(name, 640, 640)
	b.pass()
	b.want("resident_bytes active commitlog", 640*fakePage)
	b.want("filled_bytes_total active commitlog", 0)
}

func TestGrowthIsNotReading(t *testing.T) {
	d := newDisk()
	name := segment("/k1/t-0", 0) + ".log"
	d.put(name, 100, 50)
	ino := d.files[name].ino
	b := newBench(t, d, Config{}, kafka)
	b.pass()
	d.put(name, 300, 260).ino = ino
	b.pass()
	b.want("filled_bytes_total active log kafka-broker", 10*fakePage)
}

func TestHostileNamesAreLeftAlone(t *testing.T) {
	d := newDisk()
	good := segment("/s/consumequeue/topic_1.x%y|z/3", 6000000)
	d.put(good, 2, 1)
	for _, name := range []string{
		"/s/commitlog/0000000000000000000\n", "/s/commitlog/000000000000000000000", "/s/commitlog/0000000000000000000a", "/s/commitlog/-0000000000000000001",
		"/s/consumequeue/<script>/0/00000000000000000000", "/s/consumequeue/a\x00b/0/00000000000000000000",
		"/s/consumequeue/.hidden/0/00000000000000000000", "/s/consumequeue/t\u00e9/0/00000000000000000000", "/s/consumequeue/t/zero/00000000000000000000",
		"/s/consumequeue/" + strings.Repeat("x", 300) + "/0/00000000000000000000", "/s/index/2026010203040567", "/s/secrets/00000000000000000000",
	} {
		d.put(name, 2, 2)
	}
	b := newBench(t, d, Config{}, rocket)
	b.pass()
	if !slices.Equal(d.opened, []string{good}) {
		t.Errorf("opened %q", d.opened)
	}
}

func TestBrokerGoes(t *testing.T) {
	d := newDisk()
	d.put(segment("/s/commitlog", 0), 10, 5)
	brokers := []Broker{rocket}
	b := newBench(t, d, Config{Brokers: func() []Broker { return brokers }})
	b.pass()
	brokers = nil
	b.beat()
	b.wantNone("resident_bytes active commitlog")
	if len(b.source.Snapshot()) != 0 || len(b.events) != 0 {
		t.Errorf("%d files, events %+v of a broker that is gone", len(b.source.Snapshot()), b.events)
	}
}

func TestSnapshot(t *testing.T) {
	d := newDisk()
	f := d.put(segment("/s/commitlog", 0), 640, 15)
	f.dirty = 3
	d.put(segment("/s/commitlog", 1), 2, 1)
	b := newBench(t, d, Config{}, rocket)
	b.pass()
	files := b.source.Snapshot()
	if len(files) != 2 {
		t.Fatalf("%+v", files)
	}
	got := files[0]
	if got.Process != "rocketmq-broker" || got.Pid != 42 || got.Store != "/s" || got.Path != segment("commitlog", 0) ||
		got.Kind != CommitLog || got.Age != Active || got.Size != 640*fakePage || got.Resident != 15*fakePage || got.Detail.Dirty != 3*fakePage {
		t.Errorf("%+v", got)
	}
	if len(got.Parts) != 64 || got.Parts[0] != 1 || got.Parts[1] != 0.5 || got.Parts[2] != 0 {
		t.Errorf("parts %v", got.Parts)
	}
	if !slices.Equal(files[1].Parts, []float64{1, 0}) {
		t.Errorf("parts of two pages %v", files[1].Parts)
	}
}

func TestSnapshotWhileSampling(t *testing.T) {
	d := newDisk()
	for i := range 50 {
		d.put(segment("/s/commitlog", i), 100, 50)
	}
	b := newBench(t, d, Config{Every: 2 * time.Second}, rocket)
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					for _, f := range b.source.Snapshot() {
						_ = f.Parts[0]
					}
				}
			}
		})
	}
	for range 200 {
		b.beat()
	}
	close(stop)
	readers.Wait()
}
