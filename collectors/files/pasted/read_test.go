package pasted

import (
	"strings"
	"testing"
)

func TestScratch(t *testing.T) {
	text := `
$ vmstat 1 4
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 1  0      0 812345  12345 1234567    0    0    10    20   30   40  1  1 98  0  0
 2  5   1024 712345  12345 1234567  100  200  1000  2000  300  400 10 10 60 20  0
 2  6   1024 612345  12345 1234567  100  200  1000  2000  300  400 10 10 60 20  0
$ iostat -x 1
Linux 5.4.0 (host) 	12/01/2026 	_x86_64_	(8 CPU)

avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           1,00    0,00    1,00    1,00    0,00   97,00

Device            r/s     w/s     rkB/s     wkB/s   rrqm/s   wrqm/s  %rrqm  %wrqm r_await w_await aqu-sz rareq-sz wareq-sz  svctm  %util
sda              1,00    2,00     10,00     20,00     0,00     0,00   0,00   0,00    1,00    2,00   0,01    10,00    10,00   1,00   1,00

avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           1,00    0,00    1,00    1,00    0,00   97,00

Device            r/s     w/s     rkB/s     wkB/s   rrqm/s   wrqm/s  %rrqm  %wrqm r_await w_await aqu-sz rareq-sz wareq-sz  svctm  %util
sda              1,00  200,00     10,00  20000,00     0,00     0,00   0,00   0,00    1,00  200,00  40,01    10,00    10,00   1,00 100,00

MemTotal:       16000000 kB
MemFree:         1000000 kB
Dirty:              1000 kB
some words
INFO: task jbd2/sda1-8:300 blocked for more than 120 seconds.
      Not tainted
"echo 0 > /proc/sys/kernel/hung_task_timeout_secs" disables this message.
jbd2/sda1-8     D    0   300      2 0x80004000
Call Trace:
 __schedule+0x2e3/0x740
 schedule+0x42/0xb0
 balance_dirty_pages+0x1/0x2
`
	got := Read("x", []byte(text), Options{})
	for _, p := range got.Parts {
		t.Logf("%s %d-%d every %v rows %d says %q notes %v", p.Format, p.From, p.To, p.Interval, len(p.Rows), p.Says, p.Notes)
	}
	t.Logf("left %+v", got.Left)
	_ = strings.Join
}
