package gclog

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

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
	err := eachIn("testdata/logs.tar.zst", func(name string, b []byte) {
		if name == "TRUTH.tsv" {
			c.read(b)
		} else {
			c.logs[name] = b
		}
	})
	return c, err
})

// eachIn gives the files of an archive by the last part of their names.
func eachIn(archive string, each func(name string, b []byte)) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		return err
	}
	defer z.Close()
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		b, err := io.ReadAll(t)
		if err != nil {
			return err
		}
		each(path.Base(h.Name), b)
	}
}

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

// Logs of JDK 11, 21 and 25 without decorations, with odd ones and at trace, and
// what the management beans counted at the end of each run: the old collectors'
// beans count a full collection inside a young one under both.
func TestOtherJDKs(t *testing.T) {
	logs := map[string][]byte{}
	var beans []byte
	if err := eachIn("testdata/others.tar.zst", func(name string, b []byte) {
		if name == "BEANS.tsv" {
			beans = b
		} else {
			logs[name] = b
		}
	}); err != nil {
		t.Fatal(err)
	}
	figure := map[string]func(*Figures) int64{
		"Copy": func(f *Figures) int64 { return f.Young + f.Nested }, "ParNew": func(f *Figures) int64 { return f.Young + f.Nested },
		"MarkSweepCompact": func(f *Figures) int64 { return f.Full }, "PS MarkSweep": func(f *Figures) int64 { return f.Full },
		"PS Scavenge": func(f *Figures) int64 { return f.Young }, "G1 Young Generation": func(f *Figures) int64 { return f.Young },
		"G1 Old Generation": func(f *Figures) int64 { return f.Full }, "G1 Concurrent GC": func(f *Figures) int64 { return f.RemarkCleanup },
		"Shenandoah Pauses": func(f *Figures) int64 { return f.Pauses },
	}
	compared, nested := 0, int64(0)
	for line := range strings.Lines(string(beans)) {
		f := strings.Split(line, "\t")
		of, ok := figure[f[1]]
		if !ok {
			continue
		}
		got := parse(t, logs[f[0]], Handler{})
		compared++
		nested += got.Nested
		if want, err := strconv.ParseInt(f[2], 10, 64); err != nil || of(got) != want {
			t.Errorf("%s: %s is %s, the log has %d", f[0], f[1], f[2], of(got))
		}
		if strings.HasPrefix(f[0], "jdk11-CMS") && got.CPULines > got.Pauses {
			t.Errorf("%s: %d processor times for %d pauses: those of concurrent phases are no pause's", f[0], got.CPULines, got.Pauses)
		}
	}
	if compared < 20 || nested == 0 {
		t.Errorf("%d counts compared, %d nested collections", compared, nested)
	}
	if f := parse(t, logs["jdk25-Epsilon.log"], Handler{}); !f.PausesTold() || f.Pauses != 0 {
		t.Errorf("Epsilon never collects: none, and known to be none; got %d, %v", f.Pauses, f.PausesTold())
	}
}

// The parts of ZGC's pauses that JDK 11 prints at debug are no pauses.
func TestSubPhases(t *testing.T) {
	f := parse(t, []byte(`[0.332s][debug][gc,phases] GC(0) Pause Roots Setup (VM Thread) 0.006ms
[0.332s][debug][gc,phases] GC(0) Pause Roots Threads (ZWorker#0) 0.100ms
[0.333s][debug][gc,phases] GC(0) Pause Retire TLABS (VM Thread) 0.017ms
[0.333s][info ][gc,phases] GC(0) Pause Mark Start 0.413ms
`), Handler{})
	if f.Pauses != 1 || f.PauseTotal != 413*time.Microsecond {
		t.Errorf("%d pauses, %v", f.Pauses, f.PauseTotal)
	}
}
