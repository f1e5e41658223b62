package pasted

import (
	"regexp"
	"slices"
	"strings"
)

// tool is the output of something that is recognised and not used, with what to
// run instead if a stall is looked for.
type tool struct {
	name  string
	first *regexp.Regexp // its first line
	row   *regexp.Regexp // its other lines
	why   string
}

// toolsNotUsed are recognised so that nobody wonders: they hold no rates, or
// nothing that a rule reads.
func toolsNotUsed() []tool {
	re := regexp.MustCompile
	return []tool{
		{
			"slabtop", re(`^\s*Active / Total Objects \(% used\)`), re(`^\s*(?:Active / Total|Minimum / Average|OBJS ACTIVE|[0-9]+ +[0-9]+ +[0-9]+%)|^\s*$`),
			"sizes of kernel caches; memory that is short shows in /proc/vmstat",
		},
		{"ss", re(`^(?:Netid +)?State +Recv-Q +Send-Q`), re(`^(?:[a-z_]+ +)?[A-Z]+(?:-[A-Z0-9-]+)? +[0-9]+ +[0-9]+ `), "connections; it tells nothing of memory or disks"},
		{"ss -s", re(`^Total: [0-9]+(?: \(kernel|$)`), re(`^(?:TCP|Transport|RAW|UDP|INET|FRAG)|^\s*$`), "connections; it tells nothing of memory or disks"},
		{"netstat", re(`^Active Internet connections`), re(`^(?:Proto|tcp|udp|raw)`), "connections; it tells nothing of memory or disks"},
		{
			"df", re(`^(?:Filesystem|文件系统|Dateisystem|Sys\. de fichiers) +(?:\S+ +)?(?:1K-blocks|Size|Inodes|容量|Größe|Taille|1K-[^\s]+) `), re(`^\S+ .*%|^ +[0-9]`),
			"how full file systems are: one reading",
		},
		{"lsblk", re(`^NAME +(?:KNAME +)?MAJ:MIN`), re(`^[│├└─ |\x60-]*\S+ +[0-9]+:[0-9]+`), "which disks there are"},
		{"vmstat -s", re(`^ *[0-9]+ K total memory`), re(`^ *[0-9]+ (?:K )?[a-zA-Z]`), "counters since boot, read once. Run: vmstat 1 60"},
		{"vmstat -d", re(`^disk- -+reads-+`), re(`^\s*(?:total merged|[a-z]+[0-9a-z]* +[0-9])`), "counters since boot, read once. Run: iostat -x 1 60"},
		{"vmstat -m", re(`^Cache +Num +Total +Size +Pages`), re(`^\S+ +[0-9]+ +[0-9]+ +[0-9]+`), "sizes of kernel caches"},
		{"sar -n", re(`^[0-9:]{8}(?: [AP]M)? +IFACE +rxpck/s|^\S+秒 +IFACE +rxpck/s`), re(`^\S+ .*[0-9]|^\s*$|IFACE`), "the network, of which no rule knows anything"},
		{"perf", re(`^# (?:To display the perf\.data header|Samples: |Overhead )`), re(`^#|^\s*[0-9.]+%|^\s*$|^\s+[|-]`), "where CPU time went; a thread that waits uses none"},
	}
}

// readNotUsed reads the output of a tool of which nothing is used.
func readNotUsed(_ *reading, list []line) (*Part, int) {
	text := list[0].text
	if !hintsAtTool(text) {
		return nil, 0
	}
	for _, t := range toolsNotUsed() {
		if !t.first.MatchString(text) {
			continue
		}
		n := 1
		for n < len(list) && t.row.MatchString(list[n].text) {
			n++
		}
		for n > 1 && list[n-1].blank() {
			n--
		}
		p := &Part{Format: t.name}
		p.say("recognised and not used: %s", t.why)
		return p, n
	}
	return nil, 0
}

// hintsAtTool is a cheap look before the patterns are made.
func hintsAtTool(text string) bool {
	return slices.ContainsFunc([]string{
		"Active", "Recv-Q", "Total:", "文件系统", "Filesystem", "Dateisystem", "fichiers", "MAJ:MIN", "total memory", "disk-", "Cache ", "IFACE", "# ",
	}, func(s string) bool { return strings.Contains(text, s) })
}
