package host

import (
	"stallmark/collectors"
	"stallmark/storage/model"
)

// swaps reads /proc/swaps. A host without swap has no series.
type swaps struct {
	file
	devices map[string]swapDevice // by the name as it stands, escaped
}

type swapDevice struct {
	size, used *model.Series
}

// maxSwaps is more than the kernel allows at once (MAX_SWAPFILES).
const maxSwaps = 64

func newSwaps() *swaps {
	return &swaps{file: file{name: "proc/swaps"}, devices: map[string]swapDevice{}}
}

// Name implements [collectors.Source].
func (*swaps) Name() string { return "swaps" }

// Provides implements [collectors.Source].
func (*swaps) Provides() []string { return []string{"stallmark_swap_"} }

// Collect implements [collectors.Source].
func (s *swaps) Collect(root collectors.Root, out *collectors.Out) error {
	data, err := s.read(root)
	if err != nil {
		return err
	}
	l := readLines(s.name, data)
	l.next() // the heading
	for line, ok := l.next(); ok; line, ok = l.next() {
		name, rest := cutField(line)
		kind, rest := cutField(rest)
		size, rest, sizeOK := cutUint(rest)
		used, _, usedOK := cutUint(rest)
		if !sizeOK || !usedOK {
			l.fault("name, type, size and used")
			continue
		}
		d, known := s.devices[string(name)]
		if !known {
			d = s.learn(name, kind)
		}
		out.Add(d.size, float64(size)*1024)
		out.Add(d.used, float64(used)*1024)
	}
	return l.faults.partial()
}

// learn makes the series of a swap device or file. Spaces in its name are
// written as octal escapes.
func (s *swaps) learn(name, kind []byte) swapDevice {
	if len(s.devices) >= maxSwaps { // many have come and gone
		clear(s.devices)
	}
	labels := []string{"device", cleanText(unescape(name)), "type", cleanText(kind)}
	d := swapDevice{
		size: model.NewSeries("stallmark_swap_size_bytes", labels...),
		used: model.NewSeries("stallmark_swap_used_bytes", labels...),
	}
	s.devices[string(name)] = d
	return d
}
