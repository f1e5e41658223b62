package process

import (
	"fmt"
	"maps"
	"strings"

	"stallmark/collectors"
)

// brokerTree is a broker with threads, as a live host would show it.
type brokerTree struct {
	*collectors.MapRoot
}

func newBrokerTree() brokerTree {
	b := brokerTree{javaTree("java", "-cp", "/x", "kafka.Kafka", "/etc/server.properties")}
	b.Files["proc/pressure/memory"] = psi(0)
	b.Files["proc/pressure/io"] = psi(0)
	return b
}

func psi(total int) []byte {
	return fmt.Appendf(nil, "some avg10=0.00 avg60=0.00 avg300=0.00 total=%d\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n", total)
}

// thread puts a thread's files. delay is in nanoseconds; without a stack the
// thread is in user space.
func (b brokerTree) thread(tid int, comm string, state byte, delay, slices int, stack ...string) {
	dir := fmt.Sprintf("proc/42/task/%d/", tid)
	b.Files[dir+"stat"] = []byte(statOf(tid, comm, state, 3063))
	b.Files[dir+"schedstat"] = fmt.Appendf(nil, "1000 %d %d\n", delay, slices)
	text := ""
	for _, f := range stack {
		text += "[<0>] " + f + "+0x1/0x2\n"
	}
	b.Files[dir+"stack"] = []byte(text)
	b.Files[dir+"wchan"] = []byte("0")
	if len(stack) > 0 && state != 'R' {
		b.Files[dir+"wchan"] = []byte(stack[0])
	}
}

func (b brokerTree) drop(tid int) {
	maps.DeleteFunc(b.Files, func(name string, _ []byte) bool { return strings.HasPrefix(name, fmt.Sprintf("proc/42/task/%d/", tid)) })
}

var (
	futex    = []string{"futex_wait_queue", "futex_wait", "do_futex"}
	throttle = []string{"balance_dirty_pages", "balance_dirty_pages_ratelimited_flags", "generic_perform_write"}
	reclaims = []string{"shrink_lruvec", "shrink_node", "do_try_to_free_pages", "try_to_free_pages"}
)

// hostTree is a host with processes that are given by their arguments.
type hostTree struct{ *collectors.MapRoot }

func newHostTree() hostTree {
	h := hostTree{&collectors.MapRoot{Files: map[string][]byte{}, Links: map[string]string{}, Errs: map[string]error{}}}
	h.Files["proc/1/stat"] = []byte(statOf(1, "init", 'S', 1))
	h.Files["proc/uptime"] = []byte("1 1\n")
	return h
}

func (h hostTree) process(pid, start int, comm string, args ...string) {
	dir := fmt.Sprintf("proc/%d/", pid)
	h.Files[dir+"stat"] = []byte(statOf(pid, comm, 'S', start))
	h.Files[dir+"cmdline"] = []byte(strings.Join(args, "\x00") + "\x00")
}

func (h hostTree) end(pid int) {
	maps.DeleteFunc(h.Files, func(name string, _ []byte) bool { return strings.HasPrefix(name, fmt.Sprintf("proc/%d/", pid)) })
}

func broker(path string) []string {
	return []string{"java", "-cp", "/x", "org.apache.rocketmq.broker.BrokerStartup", "-c", path}
}
