package rules

import (
	"slices"
	"strings"
	"testing"

	"stallmark/storage/model"
)

// loadBuiltIn is the pack as shipped; a mistake in it fails the test.
func loadBuiltIn(t testing.TB) *Pack {
	t.Helper()
	pack, problems := Load()
	for _, p := range Mistakes(problems) {
		t.Errorf("%s", p)
	}
	return pack
}

func TestShippedSignaturesPassTheirTests(t *testing.T) {
	for _, r := range RunTests(t.Context(), loadBuiltIn(t)) {
		if !r.OK {
			t.Errorf("%s:%d: %s: %s", r.File, r.Line, r.Name, r.Message)
		}
	}
}

// Every shipped signature shows that it fires, that something close to it does
// not fire it, that a restart of the counters does not, and that it says so
// when its inputs are missing.
func TestShippedSignaturesAreTested(t *testing.T) {
	for _, s := range loadBuiltIn(t).Signatures {
		has := func(want Expectation, name string) bool {
			return slices.ContainsFunc(s.Tests, func(c TestCase) bool {
				return c.Expect == want && strings.Contains(c.Name, name)
			})
		}
		if !has(ExpectFiring, "") {
			t.Errorf("%s: no test expects it to fire", s.ID)
		}
		if !has(ExpectQuiet, "near miss") {
			t.Errorf("%s: no test called `near miss: ...` expects quiet", s.ID)
		}
		if !has(ExpectQuiet, "start again") && !has(ExpectQuiet, "restart") {
			t.Errorf("%s: no test called `... start again` or `... restart` expects quiet", s.ID)
		}
		if !has(ExpectUnknown, "") {
			t.Errorf("%s: no test expects unknown", s.ID)
		}
		if s.Layer == model.LayerCause && s.Quiet == nil {
			t.Errorf("%s: a cause needs `quiet`, or it cannot be ruled out with a value", s.ID)
		}
	}
}

// catalogue is every id of the plan, shipped or not yet.
func catalogue() []string {
	return strings.Fields(`
		dirty-throttling writeback-churn fsync-stall
		direct-reclaim memcg-reclaim page-cache-thrash mmap-fault-stall swap-in-stall thp-compaction-stall
		numa-zone-reclaim tlb-shootdown-storm oom-kill map-count-exhausted fd-exhausted
		disk-saturation disk-slow disk-full file-deletion-io
		retry-queue-cold-reads catch-up-cold-reads
		gc-stop-the-world gc-io-stall gc-memory-stall safepoint-delay allocation-stall
		cpu-saturation cfs-throttling cpu-steal softirq-saturation host-pause process-stopped
		rocketmq-broker-busy rocketmq-append-stall rocketmq-put-slow rocketmq-file-allocation-stall
		rocketmq-transient-pool-exhausted rocketmq-flush-slow rocketmq-replica-wait rocketmq-pagecachert-tail rocketmq-request-timeout
		kafka-isr-shrink kafka-request-stall kafka-segment-roll-slow kafka-controller-slow
		kafka-broker-fenced kafka-session-expired zookeeper-fsync-slow bookkeeper-slow etcd-fsync-slow
		redis-aof-fsync-slow elasticsearch-gc-overhead rabbitmq-resource-alarm hung-task kernel-hung-task large-message`)
}

func TestShippedSignaturesNameOnlyPlannedOnes(t *testing.T) {
	known := catalogue()
	for _, s := range loadBuiltIn(t).Signatures {
		for _, id := range append(append([]string{s.ID}, s.Explains...), s.Differential...) {
			if !slices.Contains(known, id) {
				t.Errorf("%s: %q is not in the catalogue", s.ID, id)
			}
		}
	}
}

// A finding page is of use to somebody who does not know the kernel: each
// signature brings evidence, something to do now with all that belongs to it, the
// sources of what it says, and how it was proven.
func TestShippedSignaturesFillAPage(t *testing.T) {
	for _, s := range loadBuiltIn(t).Signatures {
		if len(s.Evidence) == 0 || len(s.References) == 0 || s.Proven.String() == "" {
			t.Errorf("%s: %d pieces of evidence, %d references, proven: %q", s.ID, len(s.Evidence), len(s.References), s.Proven.String())
		}
		if !slices.ContainsFunc(s.Remedy, func(r RemedyRule) bool { return r.Kind == model.RemedyNow }) {
			t.Errorf("%s: nothing to do now", s.ID)
		}
		for _, r := range s.Remedy {
			if r.Why == "" || r.Apply == "" || r.Verify == "" || r.Risk == "" {
				t.Errorf("%s: %q lacks why, apply, verify or risk", s.ID, r.Title)
			}
			if strings.Contains(r.Apply, "sysctl -w") && (r.Current == "" || r.Persist == "" || r.Rollback == "") {
				t.Errorf("%s: %q sets a sysctl without its present value, the way to keep it or the way back", s.ID, r.Title)
			}
		}
	}
}
