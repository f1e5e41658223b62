package audit

import (
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"stallmark/storage/model"
)

// The sources that state facts, as they are named in the coverage.
const (
	settingsSource = "settings"
	disksSource    = "disks"
	hostSource     = "host"
	brokersSource  = "brokers"
	limitsSource   = "process-limits"
)

// missing says why there is no fact of a key: because the host does not have
// it, or because it was not read.
func (h *host) missing(key string, subject map[string]string) gap {
	area, name, _ := strings.Cut(key, ".")
	switch area {
	case "process":
		_, name, _ = strings.Cut(name, ".")
		return h.missingOfProcess(name, subject)
	case "block":
		device, setting := cutLast(name)
		return h.missingFrom(disksSource, setting+" of "+device)
	case "sysctl":
		return h.missingFrom(settingsSource, name)
	case "thp", "psi":
		return h.missingFrom(settingsSource, key)
	}
	return h.missingFrom(hostSource, key)
}

// missingFrom judges by the state of the source that should have stated it. The
// settings name what they could not read; where those are missing that every
// kernel has, what else is missing proves nothing.
func (h *host) missingFrom(source, name string) gap {
	c := h.sourceNamed(source)
	partly := source == settingsSource && c.State == model.SourcePartial
	switch {
	case c.State == model.SourceOK || partly && !strings.Contains(c.Detail, name) && !strings.Contains(c.Detail, "not there"):
		return gap{lacking: true, why: "This host has no " + name + "."}
	case partly && strings.Contains(c.Detail, "not there"):
		return gap{why: name + " (only a part of the settings is there)", mend: c.Mend}
	}
	return notRead(name, c)
}

// cutLast splits at the last dot: names of devices may have dots.
func cutLast(s string) (before, after string) {
	i := strings.LastIndexByte(s, '.')
	return s[:max(i, 0)], s[i+1:]
}

// missingOfProcess: options of a JVM that are not there are not set. Keys of a
// configuration are not set only if the configuration was read.
func (h *host) missingOfProcess(name string, subject map[string]string) gap {
	kind, rest, _ := strings.Cut(name, ".")
	switch kind {
	case "flag":
		return gap{lacking: true, why: "The JVM is started without " + rest + "."}
	case "gc_log":
		return gap{lacking: true, why: "The JVM writes no GC log."}
	case "config":
		if g, unread := h.configurationUnread(subject); unread {
			return g
		}
		return gap{lacking: true, why: rest + " is not set."}
	case "store_device", "allocator":
		return notRead(strings.ReplaceAll(name, "_", " "), h.sourceNamed(limitsSource))
	}
	return notRead(strings.ReplaceAll(name, "_", " "), h.sourceNamed(brokersSource))
}

// configurationUnread reports whether a broker's configuration is unknown. A
// RocketMQ broker may be started without a file; then its defaults hold.
func (h *host) configurationUnread(subject map[string]string) (gap, bool) {
	prefix := "process." + subject["pid"] + "."
	for key := range h.facts {
		if strings.HasPrefix(key, prefix+"config.") {
			return gap{}, false
		}
	}
	c := h.sourceNamed(brokersSource)
	if strings.Contains(c.Detail, "configuration of "+subject["process"]+":") {
		return gap{why: c.Detail, mend: c.Mend}, true
	}
	file := h.facts[prefix+"config"]
	if file == "" && !strings.HasPrefix(h.facts[prefix+"role"], "kafka") {
		return gap{}, false
	}
	if file == "" {
		file = "of this broker"
	}
	return gap{why: "the configuration " + file + " was not read", mend: c.Mend}, true
}

func notRead(name string, c model.Coverage) gap {
	switch {
	case c.Source == "":
		return gap{why: "nothing here reads " + name}
	case c.State == model.SourceOK || c.Detail == "":
		return gap{why: name + " could not be told"}
	}
	return gap{why: name + " (" + c.Source + " is " + string(c.State) + ": " + c.Detail + ")", mend: c.Mend}
}

func (h *host) sourceNamed(name string) model.Coverage {
	if i := slices.IndexFunc(h.coverage, func(c model.Coverage) bool { return c.Source == name }); i >= 0 {
		return h.coverage[i]
	}
	return model.Coverage{}
}

// unread reports whether an expression that gives nothing does so because a
// source could not be read in full. No broker to be found is a fact, not a gap.
func (h *host) unread(expr string) (gap, bool) {
	for _, metric := range metricsOf(expr) {
		c := h.provider(metric)
		switch {
		case c.Source == "":
			return gap{why: "nothing here measures " + metric}, true
		case c.State == model.SourceOK || h.sourceNamed(brokersSource).State == model.SourceAbsent && ofProcess(c.Source):
		case c.Source == brokersSource && c.State == model.SourcePartial && h.has(metric):
		default:
			return notRead(metric, c), true
		}
	}
	return gap{}, false
}

// ofProcess reports whether a source has nothing to say without a process to
// watch.
func ofProcess(source string) bool {
	return source == brokersSource || source == limitsSource || source == "cgroup" || strings.HasPrefix(source, "process")
}

// has reports whether a metric has any sample.
func (h *host) has(metric string) bool {
	v, err := h.instant(metric)
	return err == nil && len(v) > 0
}

// provider is the source with the longest prefix of a metric's name.
func (h *host) provider(metric string) model.Coverage {
	var best model.Coverage
	longest := 0
	for _, c := range h.coverage {
		for _, prefix := range c.Provides {
			if len(prefix) > longest && strings.HasPrefix(metric, prefix) {
				best, longest = c, len(prefix)
			}
		}
	}
	return best
}

// metricsOf lists the metrics that an expression reads, sorted.
func metricsOf(expr string) []string {
	tree, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		return nil
	}
	var names []string
	parser.Inspect(tree, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok && s.Name != "" && !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
		return nil
	})
	slices.Sort(names)
	return names
}
