package host

import (
	"bytes"
	"strings"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// meminfo reads /proc/meminfo. "kB" there are KiB.
type meminfo struct {
	file
	keys map[string]memKey
}

// memKey is one line: its series, and what its number is multiplied by.
type memKey struct {
	series *model.Series
	scale  float64
}

func newMeminfo() *meminfo {
	return &meminfo{file: file{name: "proc/meminfo"}, keys: map[string]memKey{}}
}

// Name implements [collectors.Source].
func (*meminfo) Name() string { return "meminfo" }

// Provides implements [collectors.Source].
func (*meminfo) Provides() []string { return []string{"node_memory_"} }

// Collect implements [collectors.Source].
func (m *meminfo) Collect(root collectors.Root, out *collectors.Out) error {
	data, err := m.read(root)
	if err != nil {
		return err
	}
	l := readLines(m.name, data)
	for line, ok := l.next(); ok; line, ok = l.next() {
		colon := bytes.IndexByte(line, ':')
		if colon < 0 {
			l.fault("a key with a colon")
			continue
		}
		value, unit, ok := cutUint(line[colon+1:])
		if !ok {
			l.fault("a number after the colon")
			continue
		}
		k, known := m.keys[string(line[:colon])]
		if !known {
			if k, known = m.learn(line[:colon], unit); !known {
				l.fault("a key of letters, digits, underscores and parentheses")
				continue
			}
		}
		out.Add(k.series, float64(value)*k.scale)
	}
	return l.err(len(out.Samples()) > 0)
}

// learn makes the series of a key seen for the first time. Active(anon)
// becomes Active_anon; a key without the unit kB counts things.
func (m *meminfo) learn(key, unit []byte) (memKey, bool) {
	name := strings.ReplaceAll(strings.TrimSuffix(string(key), ")"), "(", "_")
	if !isName([]byte(name)) || len(m.keys) >= maxKeys {
		return memKey{}, false
	}
	k := memKey{model.NewSeries("node_memory_" + name), 1}
	if word, _ := cutField(unit); string(word) == "kB" {
		k = memKey{model.NewSeries("node_memory_" + name + "_bytes"), 1024}
	}
	m.keys[string(key)] = k
	return k, true
}
