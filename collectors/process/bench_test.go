package process

import (
	"fmt"
	"testing"
	"time"

	"stallmark/collectors"
)

// listed answers ReadDir from a table: listing a MapRoot goes through all its
// names, which is not what is measured.
type listed struct {
	*collectors.MapRoot
	dirs map[string][]string
}

func (l *listed) ReadDir(name string) ([]string, error) {
	if names, ok := l.dirs[name]; ok {
		return names, nil
	}
	return l.MapRoot.ReadDir(name)
}

// manyThreads is a broker of which some threads work and the others sleep.
func manyThreads(n int) (brokerTree, *listed) {
	tree := newBrokerTree()
	l := &listed{tree.MapRoot, map[string][]string{"proc": {"1", "42"}}}
	for i := range n {
		tree.thread(100+i, fmt.Sprintf("SendMessageThread_%d", i), 'S', 1e9, 5, futex...)
		l.dirs["proc/42/task"] = append(l.dirs["proc/42/task"], fmt.Sprint(100+i))
	}
	return tree, l
}

// BenchmarkThreads is one beat over 500 threads of a tree in memory: the cost
// of the kernel's files is not in it (reference: 5 us schedstat, 7 us stat, 10 us
// stack, with open and close).
func BenchmarkThreads(b *testing.B) {
	for _, c := range []struct {
		name    string
		busy    int // threads that run in every beat
		blocked int // threads that are blocked in every beat, anew
		memory  bool
	}{{"idle", 0, 0, false}, {"busy=50", 50, 0, false}, {"blocked=50", 0, 50, false}, {"pressure", 50, 50, true}} {
		b.Run(c.name, func(b *testing.B) {
			tree, root := manyThreads(500)
			source, out, at := watchedThreads(b, root)
			slices := 6
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				slices++
				for i := range c.busy + c.blocked {
					state, stack := byte('R'), reclaims
					if i >= c.busy {
						state, stack = 'D', throttle
					}
					tree.thread(100+i, "t", state, slices, slices, stack...)
				}
				if c.memory {
					tree.Files["proc/pressure/memory"] = psi(slices)
				}
				at = at.Add(time.Second)
				b.StartTimer()
				out.Reset(at)
				if err := source.Collect(root, out); err != nil {
					b.Fatal(err)
				}
				out.EndMissing()
			}
		})
	}
}

// watchedThreads is the source of threads after discovery has found the broker.
func watchedThreads(tb testing.TB, root collectors.Root) (collectors.Source, *collectors.Out, time.Time) {
	tb.Helper()
	c := Config{ClockTicks: 100, Files: fakeFiles{}}
	sources := Sources(c)
	out := collectors.NewOut("brokers")
	out.Reset(epoch)
	_ = sources[0].Collect(root, out)
	for _, s := range sources {
		if s.Name() == "threads" {
			return s, collectors.NewOut("threads"), epoch
		}
	}
	tb.Fatal("no source of threads")
	return nil, nil, epoch
}

func BenchmarkParsers(b *testing.B) {
	stack := []byte("[<0>] balance_dirty_pages+0x1/0x2\n[<0>] balance_dirty_pages_ratelimited_flags+0x1/0x2\n[<0>] generic_perform_write+0x1/0x2\n[<0>] ext4_buffered_write_iter+0x1/0x2\n[<0>] vfs_write+0x1/0x2\n")
	maps := []byte{}
	for i := range 20000 {
		maps = fmt.Appendf(maps, "7f%010x-7f%010x rw-s 00000000 08:11 %d /kafka/topic-%d/00000000000000000000.index\n", i, i+1, i, i/2)
	}
	var c classifier
	for name, f := range map[string]func(){
		"stat":             func() { parseStat([]byte(statLine)) },
		"stack, seen":      func() { c.classify(stack) },
		"stack, new":       func() { judge(parseStack(stack)) },
		"maps, 20000 rows": func() { parseMaps(maps) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
		})
	}
}
