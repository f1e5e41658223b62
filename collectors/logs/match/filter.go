package match

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"stallmark/storage/model"
)

// filter finds literals in text by looking at every stride-th position only. A
// literal of at least stride+gram-1 bytes covers, wherever it stands, one of these
// positions with gram bytes of its own. So the grams that it can show
// there are put into a bitmap, and text is passed over a stride at a time.
//
// The grams of a literal come from the part of it that is rarest in logs.
type filter struct {
	stride   int
	gram     int    // bytes, 5 to 8: the more, the fewer looks are in vain
	mask     uint64 // of that many bytes
	literals []string
	bits     [bitWords]uint64
	slots    []slot // open addressing by the gram; a power of two of them
	entries  []entry
}

// slot leads from a gram to its literals, entries[from:to].
type slot struct {
	gram     uint64
	from, to int32
}

// entry is a literal and the offset in it at which the gram stands.
type entry struct {
	literal int32
	offset  int32
}

const (
	maxStride = 8
	maxGram   = 8
	bitLog    = 16 // 8 KiB of bits stay in the first-level cache
	bitWords  = 1 << bitLog / 64
	hashOdd   = 0x9e3779b97f4a7c15 // the golden ratio, for multiplicative hashing
)

func hash(gram uint64) uint64 { return gram * hashOdd }

// newFilter makes a filter of literals, each at least minLiteral long. The
// shortest decides the stride.
func newFilter(literals []string) *filter {
	shortest := model.MaxLogLiteral
	for _, l := range literals {
		shortest = min(shortest, len(l))
	}
	f := &filter{literals: literals}
	f.gram = min(maxGram, max(shortest-maxStride+1, model.MinLogLiteral))
	f.stride = min(maxStride, shortest-f.gram+1)
	f.mask = ^uint64(0) >> (64 - 8*f.gram)
	grams := map[uint64][]entry{}
	for i, l := range literals {
		at := rarest(l, f.stride+f.gram-1, f.gram)
		for k := at; k < at+f.stride; k++ {
			g := load([]byte(l), k) & f.mask
			grams[g] = append(grams[g], entry{int32(i), int32(k)})
		}
	}
	f.fill(grams)
	return f
}

func (f *filter) fill(grams map[uint64][]entry) {
	size := 16
	for size < 2*len(grams) {
		size *= 2
	}
	f.slots = make([]slot, size)
	order := make([]uint64, 0, len(grams))
	for g := range grams {
		order = append(order, g)
	}
	slices.Sort(order)
	for _, g := range order {
		h := hash(g) >> (64 - bitLog)
		f.bits[h/64] |= 1 << (h % 64)
		i := f.slotOf(g)
		f.slots[i].gram, f.slots[i].from = g, int32(len(f.entries))
		f.entries = append(f.entries, grams[g]...)
		f.slots[i].to = int32(len(f.entries))
	}
}

// slotOf is the place of a gram in the table, or the free one where it would be.
func (f *filter) slotOf(gram uint64) int {
	last := len(f.slots) - 1
	i := int(hash(gram)>>20) & last
	for f.slots[i].to != 0 && f.slots[i].gram != gram {
		i = (i + 1) & last
	}
	return i
}

// first returns a position within the first literal at or after from, -1 if
// there is none. Which literal, and others that overlap it, all says.
func (f *filter) first(text []byte, from int) int {
	for p := f.align(from); ; p += f.stride {
		if p = f.skip(text, p); p < 0 {
			return -1
		}
		for _, e := range f.at(text, p) {
			if f.stands(e, text, p) && p-int(e.offset) >= from {
				return p
			}
		}
	}
}

// all appends the literals that stand in the text.
func (f *filter) all(text []byte, to []int32) []int32 {
	for p := 0; ; p += f.stride {
		if p = f.skip(text, p); p < 0 {
			return to
		}
		for _, e := range f.at(text, p) {
			if f.stands(e, text, p) {
				to = append(to, e.literal)
			}
		}
	}
}

func (f *filter) align(p int) int { return (p + f.stride - 1) / f.stride * f.stride }

// at gives the literals that have the gram at p.
func (f *filter) at(text []byte, p int) []entry {
	s := f.slots[f.slotOf(load(text, p)&f.mask)]
	return f.entries[s.from:s.to]
}

// stands reports whether the whole literal is there.
func (f *filter) stands(e entry, text []byte, p int) bool {
	l, at := f.literals[e.literal], p-int(e.offset)
	return at >= 0 && at+len(l) <= len(text) && string(text[at:at+len(l)]) == l
}

// skip returns the first position from p on, in steps of the stride, whose gram
// is in the bitmap; -1 if there is none.
func (f *filter) skip(text []byte, p int) int {
	for ; p+8 <= len(text); p += f.stride {
		h := hash(binary.LittleEndian.Uint64(text[p:])&f.mask) >> (64 - bitLog)
		if f.bits[h/64]&(1<<(h%64)) != 0 {
			return p
		}
	}
	for ; p+f.gram <= len(text); p += f.stride {
		h := hash(load(text, p)&f.mask) >> (64 - bitLog)
		if f.bits[h/64]&(1<<(h%64)) != 0 {
			return p
		}
	}
	return -1
}

// load is up to eight bytes from p on.
func load(text []byte, p int) uint64 {
	if p+8 <= len(text) {
		return binary.LittleEndian.Uint64(text[p:])
	}
	var b [8]byte
	copy(b[:], text[p:])
	return binary.LittleEndian.Uint64(b[:])
}

// rarest is where the part of n bytes begins whose grams are least likely in a log.
func rarest(literal string, n, gram int) int {
	best, at := math.Inf(1), 0
	for i := 0; i+n <= len(literal); i++ {
		sum := 0.0
		for k := i; k+gram <= i+n; k++ {
			sum += likelihood(literal[k : k+gram])
		}
		if sum < best {
			best, at = sum, i
		}
	}
	return at
}

// commonWords is what broker logs are full of: names of things, levels, packages.
const commonWords = " INFO  WARN  ERROR  DEBUG offset offsets channel channels group groups consumer consume producer client clients " +
	"topic topics broker brokers partition partitions segment segments message messages request requests response timeout error failed " +
	"failure server servers leader follower controller replica replicas network connection connect thread Thread Manager manager " +
	"Client Group Consumer Broker Server Message Request org.apache.kafka. org.apache.rocketmq. kafka.server. kafka.log. Coordinator " +
	"coordinator update updated exception Exception version register query load loading from time for the with because and not has is was to " +
	"address remote session metadata snapshot state queue index expired expire closed close closing size count number process service name log logs " +
	"java. http delete deleted deleting create created creating commit file files record records member members rolling cleaner cleaned "

// likelihood is roughly how often some bytes stand in a log.
func likelihood(gram string) float64 {
	if strings.Contains(commonWords, gram) {
		return 1e-3
	}
	p := 1.0
	for _, c := range []byte(gram) {
		p *= commonness(c)
	}
	return p
}

// commonness is roughly how often a byte stands in a log.
func commonness(c byte) float64 {
	switch {
	case c == ' ' || c == 'e' || c == 't' || c == 'a' || c == 'o' || c == 'i' || c == 'n' || c == 's' || c == 'r':
		return 0.06
	case c >= '0' && c <= '9', c == ':', c == '-', c == '=', c == '.', c == ',':
		return 0.03
	case c >= 'a' && c <= 'z':
		return 0.02
	case c >= 'A' && c <= 'Z', c == '[', c == ']', c == '_', c == '/':
		return 0.008
	}
	return 0.002
}
