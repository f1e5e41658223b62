package gclog

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// corpus are the logs of testdata/logs.tar.zst by name, and what was measured of
// them beside the log or counted in it.
type corpus struct {
	logs  map[string][]byte
	truth map[string]map[string]string
}

var readCorpus = sync.OnceValues(func() (corpus, error) {
	c := corpus{map[string][]byte{}, map[string]map[string]string{}}
	f, err := os.Open("testdata/logs.tar.zst")
	if err != nil {
		return c, err
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		return c, err
	}
	defer z.Close()
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if err == io.EOF {
			return c, nil
		}
		if err != nil {
			return c, err
		}
		b, err := io.ReadAll(t)
		if err != nil {
			return c, err
		}
		if h.Name == "TRUTH.tsv" {
			c.read(b)
		} else {
			c.logs[path.Base(h.Name)] = b
		}
	}
})

func (c *corpus) read(b []byte) {
	for line := range strings.Lines(string(b)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if c.truth[f[0]] == nil {
			c.truth[f[0]] = map[string]string{}
		}
		c.truth[f[0]][f[1]] = f[2]
	}
}

// get gives a log, a rotated one as its files one after the other, oldest first.
func (c *corpus) get(name string) []byte {
	if name != "jdk17-G1-rot.log" {
		return c.logs[name]
	}
	var all []byte
	for _, part := range []string{".2", ".0", ".1", ""} {
		all = append(all, c.logs[name+part]...)
	}
	return all
}

func loadCorpus(t testing.TB) corpus {
	t.Helper()
	c, err := readCorpus()
	if err != nil {
		t.Fatal(err)
	}
	if len(c.logs) < 70 || len(c.truth) < 70 {
		t.Fatalf("%d logs and the truth of %d, want at least 70 of each", len(c.logs), len(c.truth))
	}
	return c
}

func parse(t testing.TB, b []byte, h Handler, options ...Option) *Figures {
	t.Helper()
	p := NewParser(h, options...)
	if err := p.Read(bytes.NewReader(b)); err != nil {
		t.Fatal(err)
	}
	p.Flush()
	return p.Figures()
}

// metrics are the figures as text, "null" where the log cannot tell.
func metrics(f *Figures) map[string]string {
	m := map[string]string{}
	for _, v := range f.Metrics() {
		m[v.Name] = "null"
		if v.Value != nil {
			m[v.Name] = v.Value.String()
		}
	}
	return m
}

// Every figure equals what was counted by other means. Where the truth counted
// nothing since the log has no such lines, the answer is that it cannot be told:
// then, and only then, null.
func TestTruth(t *testing.T) {
	c := loadCorpus(t)
	for name, truth := range c.truth {
		f := parse(t, c.get(name), Handler{})
		got := metrics(f)
		for metric, want := range truth {
			if strings.HasPrefix(metric, "mxbean") {
				continue
			}
			if lines := evidence(c.get(name), metric); !lines {
				want = "null"
			}
			if got[metric] != want {
				t.Errorf("%s: %s = %s, want %s", name, metric, got[metric], want)
			}
		}
	}
}

// evidence reports whether a log can tell a figure, by words that stand in it.
func evidence(b []byte, metric string) bool {
	has := func(s string) bool { return bytes.Contains(b, []byte(s)) }
	switch {
	case metric == "cpu_lines", strings.Contains(metric, "stall"):
		return true
	case strings.HasPrefix(metric, "safepoint"), strings.HasPrefix(metric, "reaching"), strings.HasPrefix(metric, "ttsp"):
		return has(`Safepoint "`)
	case strings.HasPrefix(metric, "cpu_"), strings.HasPrefix(metric, "blocked"), strings.HasPrefix(metric, "sys_heavy"):
		return has("User=")
	}
	return has(") Pause ") || has(": Pause ") || !has("Z Garbage")
}

// What the JVM's own management beans counted is what its log says, where the
// log is whole.
func TestManagementBeans(t *testing.T) {
	c := loadCorpus(t)
	beans := map[string]func(*Figures) int64{
		"mxbean[G1 Young Generation].count": func(f *Figures) int64 { return f.Young },
		"mxbean[G1 Old Generation].count":   func(f *Figures) int64 { return f.Full },
		"mxbean[G1 Concurrent GC].count":    func(f *Figures) int64 { return f.RemarkCleanup },
		"mxbean[Copy].count":                func(f *Figures) int64 { return f.Young },
		"mxbean[MarkSweepCompact].count":    func(f *Figures) int64 { return f.Full },
		"mxbean[PS Scavenge].count":         func(f *Figures) int64 { return f.Young },
		"mxbean[PS MarkSweep].count":        func(f *Figures) int64 { return f.Full },
		"mxbean[Shenandoah Pauses].count":   func(f *Figures) int64 { return f.Pauses },
	}
	compared := 0
	for name, truth := range c.truth {
		if partial := []string{"jdk17-G1-rot.log", "jdk17-G1-cut.log", "jdk17-G1-asyncdrop.log"}; slices.Contains(partial, name) {
			continue
		}
		f := parse(t, c.get(name), Handler{})
		for bean, figure := range beans {
			want, ok := truth[bean]
			if !ok {
				continue
			}
			compared++
			if got := count("", figure(f), true).Value.String(); got != want {
				t.Errorf("%s: %s is %s, the log has %s", name, bean, want, got)
			}
		}
	}
	if compared < 80 {
		t.Errorf("compared %d counts only", compared)
	}
}
