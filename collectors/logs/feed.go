package logs

import "time"

// feeder turns blocks of a log into lines for its consumer. It is the same for
// files that are followed, recordings and whole files.
type feeder struct {
	file     *File
	consumer Consumer
	cleaner  cleaner
	split    splitter
	line     Line
	block    []byte
	base     int64 // offset of block in its file
	from     int   // place in block of what is fed: before it stands what was fed earlier
	live     bool  // what is fed has been written since the last look
	emitting func(line []byte, at int, cut bool)
}

func newFeeder(file *File, consumer Consumer) *feeder {
	f := &feeder{file: file, consumer: consumer}
	f.emitting = f.emit
	return f
}

// feed hands on the whole lines of a block that stands at an offset of a part
// and returns how many bytes it is done with.
func (f *feeder) feed(block []byte, part string, offset int64, final bool) int {
	return f.feedAfter(block, 0, part, offset, final)
}

// feedAfter does so for what stands behind the first bytes of a block, which have
// been fed before.
func (f *feeder) feedAfter(block []byte, from int, part string, offset int64, final bool) int {
	f.block, f.from, f.base = block, from, offset-int64(from)
	f.line.Part, f.line.whole = part, f.base == 0 || from == 0
	return f.split.feed(block[from:], final, f.emitting)
}

// emit hands on one line.
func (f *feeder) emit(raw []byte, at int, cut bool) {
	at += f.from
	text := f.cleaner.clean(raw)
	if len(text) == 0 {
		return
	}
	f.line.File, f.line.Offset, f.line.Text, f.line.Cut = f.file, f.base+int64(at), text, cut
	f.line.At, f.line.Thread = time.Time{}, ""
	f.line.block, f.line.start, f.line.live = f.block, at, f.live
	f.consumer.Line(&f.line)
}
