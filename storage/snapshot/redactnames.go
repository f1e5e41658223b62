package snapshot

import (
	"strings"
)

// names are the texts that were learned, as a tree by their bytes: finding them
// takes time with the length of a text and not with their number.
type names struct {
	next map[uint64]int32 // node<<8 | byte to node
	end  map[int32]found
	size int32
}

// found is a name that ends at a node.
type found struct {
	place int
	exact map[string]int // other names that differ by case
	short bool           // found as a word of its own only
}

// Bounds of names. A short one would be found in any word.
const (
	longName = 6   // bytes from which a name is found inside of words too: a topic's name begins those of its retry topics
	maxName  = 256 // bytes
)

// add learns a name, as a word of its own or as a part of others too. Upper and lower case are one, unless both are names.
func (n *names) add(name string, place int, word bool) {
	if n.next == nil {
		n.next, n.end = map[uint64]int32{}, map[int32]found{}
	}
	at := int32(0)
	for i := range len(name) {
		key := uint64(at)<<8 | uint64(lower(name[i]))
		to, ok := n.next[key]
		if !ok {
			n.size++
			to = n.size
			n.next[key] = to
		}
		at = to
	}
	f, ok := n.end[at]
	if !ok {
		f = found{place: place, exact: map[string]int{}, short: true}
	}
	f.short = f.short && (word || len(name) < longName)
	f.exact[name] = place
	n.end[at] = f
}

// longest gives the longest name that begins at a byte, and where it ends.
func (n *names) longest(s string, from int) (place, to int) {
	at := int32(0)
	for i := from; i < len(s); i++ {
		next, ok := n.next[uint64(at)<<8|uint64(lower(s[i]))]
		if !ok {
			break
		}
		at = next
		f, ok := n.end[at]
		if !ok || f.short && !alone(s, from, i+1) {
			continue
		}
		place, to = f.place, i+1
		if exact, ok := f.exact[s[from:to]]; ok {
			place = exact
		}
	}
	return place, to
}

// whole reports whether a text is one of the names.
func (n *names) whole(s string) (place int, ok bool) {
	place, to := n.longest(s, 0)
	return place, to == len(s) && to > 0
}

// replace puts a mark in the place of each name.
func (n *names) replace(s string) string {
	if n.size == 0 {
		return s
	}
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); {
		place, to := n.longest(s, i)
		if to == 0 {
			i++
			continue
		}
		b.WriteString(s[done:i])
		b.WriteRune(rune(firstMark + place))
		i, done = to, to
	}
	if done == 0 {
		return s
	}
	return b.String() + s[done:]
}

// alone reports whether a part of a text is a word of its own.
func alone(s string, from, to int) bool {
	return (from == 0 || !wordByte(s[from-1])) && (to == len(s) || !wordByte(s[to]))
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
