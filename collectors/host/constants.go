package host

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// constants states what the host is. Its files are read every 10 s, since
// memory and CPUs can be added; cpuinfo only once, since reading it interrupts
// every CPU on some kernels.
type constants struct {
	config             Config
	clock              cadence
	memory, page, tick *model.Series
	total              uint64 // bytes
	meminfo, stat      file
	asked              bool // what kind of machine this is
	err                error
}

func newConstants(c Config) *constants {
	return &constants{
		config:  c,
		clock:   cadence{every: topologyEvery},
		memory:  model.NewSeries("stallmark_host_memory_bytes"),
		page:    model.NewSeries("stallmark_page_size_bytes"),
		tick:    model.NewSeries("stallmark_clock_ticks"),
		meminfo: file{name: "proc/meminfo"},
		stat:    file{name: "proc/stat"},
	}
}

// Name implements [collectors.Source].
func (*constants) Name() string { return "host" }

// Provides implements [collectors.Source].
func (*constants) Provides() []string {
	return []string{"stallmark_host_memory_bytes", "stallmark_page_size_bytes", "stallmark_clock_ticks"}
}

// Collect implements [collectors.Source].
func (c *constants) Collect(root collectors.Root, out *collectors.Out) error {
	if c.clock.due(out.At()) {
		c.err = c.read(root, out)
	}
	if c.total > 0 {
		out.Add(c.memory, float64(c.total))
	}
	out.Add(c.page, float64(c.config.PageSize))
	out.Add(c.tick, float64(c.config.ClockTicks))
	return c.err
}

// read states the facts.
func (c *constants) read(root collectors.Root, out *collectors.Out) error {
	c.fact(root, out, "host.name", c.config.Hostname, "proc/sys/kernel/hostname")
	c.fact(root, out, "host.kernel", c.config.Kernel, "proc/sys/kernel/osrelease")
	out.Fact("host.page_size", strconv.Itoa(c.config.PageSize))
	out.Fact("host.clock_ticks", strconv.Itoa(c.config.ClockTicks))
	if data, err := c.stat.read(root); err == nil {
		if n := countCPUs(data); n > 0 {
			out.Fact("host.cpus", strconv.Itoa(n))
		}
	}
	if !c.asked {
		c.asked = true
		if v := virtualOf(root); v != "" {
			out.Fact("host.virtual", v)
		}
	}
	data, err := c.meminfo.read(root)
	if err != nil {
		return err
	}
	_, rest, _ := bytes.Cut(data, []byte("MemTotal:"))
	kib, _, ok := cutUint(rest)
	if !ok {
		return collectors.Partial("proc/meminfo: want MemTotal and a number", "")
	}
	c.total = kib * 1024
	out.Fact("host.memory_bytes", strconv.FormatUint(c.total, 10))
	return nil
}

// fact states a configured text, or that of a file.
func (c *constants) fact(root collectors.Root, out *collectors.Out, key, text, name string) {
	if text == "" {
		text, _ = readText(root, name)
	}
	if text != "" {
		out.Fact(key, text)
	}
}

// countCPUs counts the lines of CPUs in /proc/stat.
func countCPUs(data []byte) int {
	n := 0
	for line := range bytes.Lines(data) {
		if number, ok := bytes.CutPrefix(line, []byte("cpu")); ok && len(number) > 0 && number[0] != ' ' {
			n++
		}
	}
	return n
}

// virtualOf names the hypervisor: "kvm", "vmware" ..., "vm" for one that is not
// known, "none" for a machine of its own; empty if that cannot be told (other
// processors than x86 have no such flag).
func virtualOf(root collectors.Root) string {
	if t, ok := readText(root, "sys/hypervisor/type"); ok && t != "" {
		return t
	}
	vendor, _ := readText(root, "sys/class/dmi/id/sys_vendor")
	product, _ := readText(root, "sys/class/dmi/id/product_name")
	firmware := strings.ToLower(vendor + " " + product)
	for _, k := range []struct{ text, name string }{
		{"kvm", "kvm"},
		{"qemu", "kvm"},
		{"openstack", "kvm"},
		{"vmware", "vmware"},
		{"virtualbox", "virtualbox"},
		{"microsoft corporation virtual machine", "hyperv"},
		{"xen", "xen"},
		{"amazon ec2", "amazon"},
		{"google compute engine", "google"},
		{"alibaba cloud", "alibaba"},
	} {
		if strings.Contains(firmware, k.text) {
			return k.name
		}
	}
	data, err := root.Read("proc/cpuinfo", nil)
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(data) {
		if !bytes.HasPrefix(line, []byte("flags")) {
			continue
		}
		if slices.Contains(strings.Fields(string(line)), "hypervisor") {
			return "vm"
		}
		return "none"
	}
	return ""
}
