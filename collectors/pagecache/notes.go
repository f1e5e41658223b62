package pagecache

import (
	"fmt"
	"strconv"
	"time"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// note counts what was deleted since the last list and tells of it. The disk
// may work on a deletion for seconds: every extent has to be freed.
func (b *broker) note(lost map[Kind]deletion, out *collectors.Out) {
	from := b.since
	b.since = out.At()
	for _, k := range sortedKeys(lost, compareKinds) {
		d := lost[k]
		total := b.deletionsOf(k)
		total.files += d.files
		total.bytes += d.bytes
		out.Event(model.Event{
			From: from, To: b.since, Kind: model.EventFiles, Count: d.files,
			Text: fmt.Sprintf("%s (pid %d) deleted %d %s files%s", b.Process, b.ID.Pid, d.files, k, d.size()),
			Attrs: map[string]string{
				"process": b.Process, "pid": strconv.Itoa(b.ID.Pid), "kind": string(k), "change": "deleted",
				"files": strconv.Itoa(d.files), "bytes": strconv.FormatInt(d.bytes, 10),
			},
		})
	}
}

// size tells how much it was, as far as that is known.
func (d deletion) size() string {
	mib := float64(d.bytes) / (1 << 20)
	switch {
	case d.known == 0:
		return " of unknown size"
	case d.known < d.files:
		return fmt.Sprintf(", %d of them %.1f MiB", d.known, mib)
	}
	return fmt.Sprintf(", %.1f MiB", mib)
}

func compareKinds(a, b Kind) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// coldReads gathers the old files that came into memory.
type coldReads struct {
	files int
	bytes int64
	most  string // the path of the file of which most came
	part  int64  // and how much of it
	from  time.Time
}

// leastCold is what must have come of a file to be told: some read-ahead at its
// end is no cold read.
const leastCold = 4 << 20

func (c *coldReads) add(f *record) {
	if f.filled < leastCold {
		return
	}
	c.files++
	c.bytes += f.filled
	if f.filled > c.part {
		c.most, c.part = f.path, f.filled
	}
	if c.from.IsZero() || f.before.Before(c.from) {
		c.from = f.before
	}
}

// noteCold tells of old files that came into memory: somebody reads them. Who
// that is the page cache does not know; it may be a backup.
func (b *broker) noteCold(out *collectors.Out) {
	c := b.cold
	b.cold = coldReads{}
	if c.files == 0 {
		return
	}
	out.Event(model.Event{
		From: c.from, To: out.At(), Kind: model.EventFiles, Count: c.files,
		Text: fmt.Sprintf("%.1f MiB of %d old files of %s (pid %d) came into memory, most of them of %s",
			float64(c.bytes)/(1<<20), c.files, b.Process, b.ID.Pid, c.most),
		Attrs: map[string]string{
			"process": b.Process, "pid": strconv.Itoa(b.ID.Pid), "change": "read",
			"files": strconv.Itoa(c.files), "bytes": strconv.FormatInt(c.bytes, 10), "file": c.most,
		},
	})
}
