package host

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// sysctls are the settings that signatures and the audit speak of. Those that
// every kernel from 2.6.32 on has are marked: without them something is wrong.
var sysctls = []struct {
	name   string
	always bool
}{
	{"vm.dirty_background_bytes", false},
	{"vm.dirty_background_ratio", true},
	{"vm.dirty_bytes", false},
	{"vm.dirty_ratio", true},
	{"vm.dirty_expire_centisecs", true},
	{"vm.dirty_writeback_centisecs", true},
	{"vm.dirtytime_expire_seconds", false},
	{"vm.swappiness", true},
	{"vm.min_free_kbytes", true},
	{"vm.watermark_scale_factor", false},
	{"vm.watermark_boost_factor", false},
	{"vm.zone_reclaim_mode", false}, // NUMA kernels only
	{"vm.vfs_cache_pressure", true},
	{"vm.max_map_count", false},
	{"vm.overcommit_memory", true},
	{"vm.overcommit_ratio", true},
	{"vm.page-cluster", false},
	{"vm.laptop_mode", false},
	{"vm.block_dump", false},
	{"vm.nr_hugepages", false},
	{"vm.stat_interval", false},
	{"vm.compaction_proactiveness", false},
	{"vm.extfrag_threshold", false},
	{"vm.lowmem_reserve_ratio", true},
	{"kernel.numa_balancing", false},
	{"kernel.task_delayacct", false},
	{"kernel.hung_task_timeout_secs", false},
	{"kernel.threads-max", false},
	{"kernel.pid_max", false},
	{"fs.file-max", false},
	{"fs.nr_open", false},
	{"fs.aio-max-nr", false},
}

// settings reads sysctls, THP and whether PSI is on. A value that is one
// number is a series as well, so that a rule can compute with it.
type settings struct {
	sysctls []*setting
	thp     []*setting
	psi     *model.Series
	buf     []byte
}

// setting is one file.
type setting struct {
	name   string // of the series, "vm.dirty_bytes"
	fact   string // the key of the fact
	files  []string
	always bool
	parse  func(string) (string, float64, bool) // text to fact, number, whether there is one
	series *model.Series
	last   []byte // the file as read last
	value  float64
	number bool
}

func newSettings() *settings {
	s := &settings{psi: model.NewSeries("stallmark_setting", "name", "psi.enabled")}
	for _, c := range sysctls {
		s.sysctls = append(s.sysctls, newSetting(c.name, "sysctl."+c.name, c.always, parseSysctl,
			"proc/sys/"+strings.ReplaceAll(c.name, ".", "/")))
	}
	const thp, rhel6 = "sys/kernel/mm/transparent_hugepage/", "sys/kernel/mm/redhat_transparent_hugepage/"
	s.thp = []*setting{
		newSetting("thp.enabled", "thp.enabled", false, parseTHP, thp+"enabled", rhel6+"enabled"),
		newSetting("thp.defrag", "thp.defrag", false, parseTHP, thp+"defrag", rhel6+"defrag"),
	}
	return s
}

func newSetting(name, fact string, always bool, parse func(string) (string, float64, bool), files ...string) *setting {
	return &setting{
		name: name, fact: fact, files: files, always: always, parse: parse,
		series: model.NewSeries("stallmark_setting", "name", name),
	}
}

// Name implements [collectors.Source].
func (*settings) Name() string { return "settings" }

// Provides implements [collectors.Source].
func (*settings) Provides() []string { return []string{"stallmark_setting"} }

// Collect implements [collectors.Source].
func (s *settings) Collect(root collectors.Root, out *collectors.Out) error {
	var missing, denied []string
	found := 0
	for _, c := range s.sysctls {
		err := s.collect(c, root, out)
		switch {
		case err == nil:
			found++
		case errors.Is(err, fs.ErrNotExist):
			if c.always {
				missing = append(missing, c.name)
			}
		default:
			denied = append(denied, fmt.Sprintf("%s (%v)", c.name, err))
		}
	}
	for _, c := range s.thp {
		if err := s.collect(c, root, out); err != nil && !errors.Is(err, fs.ErrNotExist) {
			denied = append(denied, fmt.Sprintf("%s (%v)", c.name, err))
		}
	}
	s.collectPSI(root, out)
	return settingsGap(found, missing, denied)
}

// collect reads one setting and states it.
func (s *settings) collect(c *setting, root collectors.Root, out *collectors.Out) error {
	data, err := s.readFirst(root, c.files)
	if err != nil {
		return err
	}
	if c.last == nil || !bytes.Equal(data, c.last) {
		c.last = append(c.last[:0], data...)
		var text string
		text, c.value, c.number = c.parse(cleanText(data))
		out.Fact(c.fact, text)
	}
	if c.number {
		out.Add(c.series, c.value)
	}
	return nil
}

// readFirst reads the first of some files that exists.
func (s *settings) readFirst(root collectors.Root, files []string) ([]byte, error) {
	var first error
	for _, name := range files {
		data, err := root.Read(name, s.buf)
		if err == nil {
			s.buf = data
			return data, nil
		}
		if first == nil || !errors.Is(err, fs.ErrNotExist) {
			first = err
		}
	}
	return nil, first
}

func (s *settings) collectPSI(root collectors.Root, out *collectors.Out) {
	on, known := psiEnabled(root, s.buf)
	if !known {
		return
	}
	text, value := "0", 0.0
	if on {
		text, value = "1", 1
	}
	out.Fact("psi.enabled", text)
	out.Add(s.psi, value)
}

// settingsGap says what was not there.
func settingsGap(found int, missing, denied []string) error {
	const mend = "mount the host's /proc readable and name it with --procfs"
	switch {
	case found == 0 && len(denied) > 0:
		return collectors.Denied("proc/sys: "+denied[0], mend)
	case found == 0:
		return collectors.Absent("no proc/sys/vm", mend)
	case len(denied) > 0:
		return collectors.Partial("cannot read "+strings.Join(denied, ", "), mend)
	case len(missing) > 0:
		return collectors.Partial("not there: "+strings.Join(missing, ", "), mend)
	}
	return nil
}

// parseSysctl: values of several numbers keep one space between them.
func parseSysctl(text string) (string, float64, bool) {
	text = strings.Join(strings.Fields(text), " ")
	v, ok := parseInt([]byte(text))
	return text, v, ok
}

// parseTHP: the chosen word, and its number: the more eager, the higher.
func parseTHP(text string) (string, float64, bool) {
	word := chosenWord(text)
	for i, w := range []string{"never", "madvise", "defer+madvise", "defer", "always"} {
		if w == word {
			return word, float64(i), true
		}
	}
	return word, 0, false
}
