package logs

import "bytes"

// feeder turns blocks of a log into lines for its consumer. It is the same for
// files that are followed, recordings and whole files.
type feeder struct {
	file     *File
	consumer Consumer
	framer   framer
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
	f := &feeder{file: file, consumer: consumer, framer: framer{format: file.Format}}
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

// emit hands on one raw line, without what has carried it. A message of a journal
// may be several.
func (f *feeder) emit(raw []byte, at int, cut bool) {
	out, ok := f.framer.unwrap(raw, cut)
	if !ok {
		return
	}
	at += f.from
	l := &f.line
	l.File, l.Offset, l.Cut, l.At, l.Origin = f.file, f.base+int64(at), cut || out.cut, out.at, out.source
	l.block, l.start, l.live = f.block, at, f.live
	for text := out.text; ; {
		line, rest, several := bytes.Cut(text, []byte{'\n'})
		if l.Text = f.cleaner.clean(line); len(l.Text) > 0 {
			f.consumer.Line(l)
		}
		if !several {
			return
		}
		text = rest
	}
}
