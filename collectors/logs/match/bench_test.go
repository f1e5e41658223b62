package match_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"stallmark/collectors/logs/match"
	"stallmark/rules/patterns"
	"stallmark/storage/model"
)

// benchSize is about how much log text the benchmarks go through.
const benchSize = 32 << 20

// brokerLog is text as RocketMQ and Kafka brokers write it, in which one line of
// 1,000 is one that a pattern recognises.
func brokerLog() []byte {
	r := rand.New(rand.NewPCG(5, 6))
	var b bytes.Buffer
	for i := 0; b.Len() < benchSize; i++ {
		stamp := fmt.Sprintf("2021-03-01 %02d:%02d:%02d", i/3600000%24, i/60000%60, i/1000%60)
		n, port := r.IntN(1<<20), 1024+r.IntN(60000)
		switch {
		case i%1000 == 999:
			fmt.Fprintf(&b, "%s WARN SendMessageThread_%d - [NOTIFYME]putMessage in lock cost time(ms)=%d, bodyLength=%d AppendMessageResult=AppendMessageResult{status=PUT_OK, wroteOffset=%d, wroteBytes=%d, msgId='0A0A0A0A00002A9F%016X', storeTimestamp=1614564000000, logicsOffset=%d, pagecacheRT=%d, msgNum=1}\n", stamp, n%16, 500+n%4000, n%4096, n, n%4096, n, n, 500+n%4000)
		case i%5 == 0:
			fmt.Fprintf(&b, "%s INFO ClientManageThread_%d - new consumer connected, group: billing-%d CONSUME_PASSIVELY CLUSTERING channel: ClientChannelInfo [channel=[id: 0x%08x, L:/10.0.0.1:10911 - R:/10.0.%d.%d:%d], clientId=10.0.3.9@%d, language=JAVA, version=399, lastUpdateTimestamp=1614564%06d]\n", stamp, n%32, n%300, n, n%256, n%250, port, n, n%1000000)
		case i%5 == 1:
			fmt.Fprintf(&b, "%s INFO AdminBrokerThread_%d - updateAllConfig called by 10.0.%d.%d:%d, pull request hold %d, offset persisted for topic orders-%d at %d\n", stamp, n%16, n%256, n%250, port, n%9, n%400, n)
		case i%5 == 2:
			fmt.Fprintf(&b, "[%s,%03d] INFO [GroupCoordinator 1]: Stabilized group billing-%d generation %d (__consumer_offsets-%d) with %d members (kafka.coordinator.group.GroupCoordinator)\n", stamp, i%1000, n%300, n%90, n%50, n%30)
		case i%5 == 3:
			fmt.Fprintf(&b, "[%s,%03d] INFO [UnifiedLog partition=orders-%d, dir=/data/kafka] Incremented log start offset to %d due to leader offset increment (kafka.log.UnifiedLog)\n", stamp, i%1000, n%400, n)
		default:
			fmt.Fprintf(&b, "%s WARN NettyServerCodecThread_%d - NETTY EVENT PIPELINE: channelInactive, the channel[10.0.%d.%d:%d] timeout %d ms while reading\n", stamp, n%8, n%256, n%250, port, n%9000)
		}
	}
	return b.Bytes()
}

func builtIn(tb testing.TB) (*match.Set, []model.LogPattern) {
	tb.Helper()
	pack, _ := patterns.Load()
	set, err := match.New(pack.Patterns)
	if err != nil {
		tb.Fatal(err)
	}
	return set, pack.Patterns
}

// report turns a benchmark's time into the figures that count: by the clock, and
// by the processor time used, which a busy machine changes less.
func report(b *testing.B, text []byte, used time.Duration) {
	b.SetBytes(int64(len(text)))
	lines := float64(bytes.Count(text, []byte("\n"))) * float64(b.N)
	b.ReportMetric(lines/used.Seconds()/1e6, "Mlines/cpu-s")
	b.ReportMetric(float64(len(text))*float64(b.N)/used.Seconds()/1e6, "MB/cpu-s")
}

// cpuTime is the processor time that this process has used.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkLog goes through the same log with the built-in patterns, and beside
// that with grep and ripgrep looking for the same literals, on one thread each.
func BenchmarkLog(b *testing.B) {
	text := brokerLog()
	set, list := builtIn(b)
	lines := bytes.Count(text, []byte("\n"))
	log := filepath.Join(b.TempDir(), "broker.log")
	if err := os.WriteFile(log, text, 0o600); err != nil {
		b.Fatal(err)
	}
	b.Run("whole-buffer", func(b *testing.B) {
		var hit match.Hit
		b.ReportAllocs()
		began := cpuTime(b)
		for range b.N {
			n := 0
			for at := 0; set.Next(text, at, &hit); at = hit.End + 1 {
				n++
			}
			if n != lines/1000 {
				b.Fatalf("%d of %d lines", n, lines)
			}
		}
		report(b, text, cpuTime(b)-began)
	})
	b.Run("line-by-line", func(b *testing.B) {
		var hit match.Hit
		b.ReportAllocs()
		began := cpuTime(b)
		for range b.N {
			rest := text
			for len(rest) > 0 {
				n := bytes.IndexByte(rest, '\n')
				set.Match(rest[:n], &hit)
				rest = rest[n+1:]
			}
		}
		report(b, text, cpuTime(b)-began)
	})
	b.Run("file", func(b *testing.B) {
		b.ReportAllocs()
		began := cpuTime(b)
		for range b.N {
			f, err := os.Open(log)
			if err != nil {
				b.Fatal(err)
			}
			s := match.NewScanner(set)
			if err := s.Scan(f); err != nil || s.Lines() != int64(lines) {
				b.Fatal(err, s.Lines())
			}
			f.Close()
		}
		report(b, text, cpuTime(b)-began)
	})
	alternatives := literalsFile(b, list)
	b.Run("grep-E", func(b *testing.B) { external(b, text, "grep", "-E", "-c", "-f", alternatives, log) })
	b.Run("rg", func(b *testing.B) { external(b, text, "rg", "-j1", "-c", "-f", alternatives, log) })
}

// BenchmarkStorm has nothing but lines that match.
func BenchmarkStorm(b *testing.B) {
	set, _ := builtIn(b)
	line := []byte("2021-03-01 10:00:00 WARN SendMessageThread_1 - [NOTIFYME]putMessage in lock cost time(ms)=1083, bodyLength=1024 " +
		"AppendMessageResult=AppendMessageResult{status=PUT_OK, wroteOffset=26993456789, wroteBytes=1200, msgId='0A', storeTimestamp=1605061702100, " +
		"logicsOffset=123, pagecacheRT=1082, msgNum=1}")
	var hit match.Hit
	b.ReportAllocs()
	for b.Loop() {
		if !set.Match(line, &hit) {
			b.Fatal("no match")
		}
	}
}

// literalsFile holds the literals of all patterns as alternatives.
func literalsFile(b *testing.B, list []model.LogPattern) string {
	b.Helper()
	var lines []string
	for _, p := range list {
		for _, l := range p.Literals {
			lines = append(lines, regexp.QuoteMeta(l))
		}
	}
	file := filepath.Join(b.TempDir(), "alternatives")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		b.Fatal(err)
	}
	return file
}

// external runs another program over the same log.
func external(b *testing.B, text []byte, name string, args ...string) {
	path, err := exec.LookPath(name)
	if err != nil {
		b.Skip(name + " is not installed")
	}
	var used time.Duration
	for range b.N {
		cmd := exec.Command(path, args...)
		cmd.Env = append(os.Environ(), "LC_ALL=C", "RAYON_NUM_THREADS=1")
		if out, err := cmd.Output(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		used += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	report(b, text, used)
}
