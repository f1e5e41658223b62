package pasted

// Shares at which memory or swap counts as short: below, one allocation of a JVM
// decides between enough and too little.
const (
	leastAvailable = 0.05 // of memory
	leastSwapFree  = 0.05 // of swap
)

// shortage is what one reading of free, top or /proc/meminfo says of memory, in
// bytes; what it does not say is negative.
type shortage struct {
	total, available, swapTotal, swapFree float64
}

func unknownShortage() shortage { return shortage{-1, -1, -1, -1} }

// meminfoShortage is what a copy of /proc/meminfo says.
func meminfoShortage(data []byte) shortage {
	m, s := meminfoValues(data), unknownShortage()
	for key, into := range map[string]*float64{"MemTotal": &s.total, "MemAvailable": &s.available, "SwapTotal": &s.swapTotal, "SwapFree": &s.swapFree} {
		if v, ok := m[key]; ok {
			*into = v
		}
	}
	return s
}

// signShortage says what is short in a reading.
func (p *Part) signShortage(line int, s shortage) {
	const mib = 1 << 20
	if s.total > 0 && s.available >= 0 && s.available < leastAvailable*s.total {
		p.sign(line, "%.0f of %.0f MiB of memory are available to programs", s.available/mib, s.total/mib)
	}
	if s.swapTotal > 0 && s.swapFree >= 0 && s.swapFree < leastSwapFree*s.swapTotal {
		p.sign(line, "swap is full: %.0f of %.0f MiB are free. Whether pages are moved now, si and so of vmstat tell", s.swapFree/mib, s.swapTotal/mib)
	}
}
