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
	f.block, f.base = block, offset
	f.line.Part = part
	return f.split.feed(block, final, f.emitting)
}

// emit hands on one line.
func (f *feeder) emit(raw []byte, at int, cut bool) {
	text := f.cleaner.clean(raw)
	if len(text) == 0 {
		return
	}
	f.line.File, f.line.Offset, f.line.Text, f.line.Cut = f.file, f.base+int64(at), text, cut
	f.line.At, f.line.Thread = time.Time{}, ""
	f.line.block, f.line.start = f.block, at
	f.consumer.Line(&f.line)
}
