package gclog

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Whatever is done to a log that does not change what it says must not change its
// figures.

// perLine changes each line of a log.
func perLine(log []byte, change func(i int, line string) string) []byte {
	var out strings.Builder
	i := 0
	for line := range strings.Lines(string(log)) {
		out.WriteString(change(i, line))
		i++
	}
	return []byte(out.String())
}

var (
	decorated = regexp.MustCompile(`^(\[[^\]\s]*\s*\])+ ?`)
	groups    = regexp.MustCompile(`\[[^\]]*\]`)
	digits    = regexp.MustCompile(`(\d)\.(\d)`)
)

// foreignLines are what others write into the same file.
func foreignLines() []string {
	return []string{
		"2026-12-01 05:28:05,754 INFO [main] kafka.server - started (0.5 secs]\n",
		"[2026-12-01 05:28:05,754] WARN [GC(3) Pause Young] not ours 9.000ms (kafka.log)\n",
		"Exception in thread \"main\" java.lang.OutOfMemoryError: Java heap space\n\tat Churn.main(Churn.java:7)\n",
		"# Pause Full 12M->3M(4M) 77.000ms\n", "\n", "\x1b[31mred\x1b[0m [\n", "]]]][[[[\n", strings.Repeat("x", 3000) + "\n",
	}
}

// changes keep the figures.
func changes() map[string]func([]byte) []byte {
	return map[string]func([]byte) []byte{
		"Windows line ends": func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")) },
		"decimal commas": func(b []byte) []byte {
			return perLine(b, func(_ int, s string) string {
				head := decorated.FindString(s)
				return head + digits.ReplaceAllString(s[len(head):], "$1,$2")
			})
		},
		"Arabic decimal points": func(b []byte) []byte {
			return perLine(b, func(_ int, s string) string {
				head := decorated.FindString(s)
				return head + digits.ReplaceAllString(s[len(head):], "$1\u066b$2")
			})
		},
		"other decorations": func(b []byte) []byte {
			return perLine(b, func(i int, s string) string {
				head := decorated.FindString(s)
				return fmt.Sprintf("[2026-11-30T23:51:22.%03d+0530][17960%011dms][%dns][host][1][2][info ] ", i%1000, i, 5_000_000_000_000+i) + s[len(head):]
			})
		},
		"wider tags": func(b []byte) []byte {
			return perLine(b, func(_ int, s string) string {
				return groups.ReplaceAllStringFunc(s, func(g string) string {
					if strings.HasPrefix(g, "[gc") || strings.HasPrefix(g, "[safepoint") {
						return strings.TrimSuffix(g, "]") + "      ]"
					}
					return g
				})
			})
		},
		"foreign lines": func(b []byte) []byte {
			foreign := foreignLines()
			return perLine(b, func(i int, s string) string { return foreign[i%len(foreign)] + s })
		},
		"a container's prefix": func(b []byte) []byte {
			return perLine(b, func(i int, s string) string {
				if !decorated.MatchString(s) {
					return s
				}
				return [...]string{"broker-1  | ", "2026-12-01T05:28:05.754123456Z ", "2026-12-01T05:28:05.7Z stdout F "}[i%3] + s
			})
		},
		"no final line end": func(b []byte) []byte { return bytes.TrimSuffix(b, []byte("\n")) },
	}
}

// kept are the figures of a log but for what only lines of the JVM can say.
func sameFigures(t *testing.T, name string, want, got *Figures, without ...string) {
	t.Helper()
	a, b := metrics(want), metrics(got)
	for k, v := range a {
		if b[k] != v && !slices.Contains(without, k) {
			t.Errorf("%s: %s = %s, was %s", name, k, b[k], v)
		}
	}
}

func TestUnchanged(t *testing.T) {
	c := loadCorpus(t)
	for name := range c.truth {
		log := c.get(name)
		want := parse(t, log, Handler{})
		for what, change := range changes() {
			if decorations := what == "decimal commas" || what == "Arabic decimal points"; decorations && strings.Contains(name, "comma") {
				continue // has both already
			}
			sameFigures(t, name+" with "+what, want, parse(t, change(log), Handler{}))
		}
	}
}

// Without any decoration the figures stay, though times and tags are gone.
func TestBareMessages(t *testing.T) {
	c := loadCorpus(t)
	for name := range c.truth {
		log := c.get(name)
		bare := perLine(log, func(_ int, s string) string { return s[len(decorated.FindString(s)):] })
		f := parse(t, bare, Handler{Pause: func(p *Pause) {
			if p.Start.Clock != ClockNone {
				t.Fatalf("%s: a time from nowhere: %+v", name, p.Start)
			}
		}})
		sameFigures(t, name, parse(t, log, Handler{}), f)
	}
}

// Uptimes and wall clock give the same pauses at the same distances.
func TestClocks(t *testing.T) {
	c := loadCorpus(t)
	begin := time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC)
	for name := range c.truth {
		log := c.get(name)
		if !bytes.Contains(log, []byte("s][info")) || strings.Contains(name, "comma") || strings.Contains(name, "wide") {
			continue
		}
		uptime := perLine(log, func(_ int, s string) string { // without the wall clock
			if strings.HasPrefix(s, "[20") {
				return s[strings.IndexByte(s, ']')+1:]
			}
			return s
		})
		var a, b []Pause
		parse(t, log, Handler{Pause: func(p *Pause) { a = append(a, *p) }})
		parse(t, uptime, Handler{Pause: func(p *Pause) { b = append(b, *p) }}, StartedAt(begin, time.Millisecond))
		if len(a) != len(b) {
			t.Fatalf("%s: %d pauses, and %d with uptimes only", name, len(a), len(b))
		}
		for i := range a {
			if b[i].Start.Clock != ClockDerived || b[i].Start.Wall.Sub(begin) != b[i].Start.Uptime || a[i].Duration != b[i].Duration {
				t.Errorf("%s: pause %d: %+v, with uptimes only %+v", name, i, a[i].Start, b[i].Start)
				break
			}
			if a[i].Start.Wall.IsZero() || i == 0 || a[0].Start.Wall.IsZero() {
				continue
			}
			wall, up := a[i].Start.Wall.Sub(a[0].Start.Wall), b[i].Start.Uptime-b[0].Start.Uptime
			if d := wall - up; d < -3*time.Millisecond || d > 3*time.Millisecond {
				t.Errorf("%s: pause %d is %v after the first by the wall clock, %v by uptimes", name, i, wall, up)
				break
			}
		}
	}
}

// A log that is split into files and read in order has the figures of the whole.
func TestSplit(t *testing.T) {
	c := loadCorpus(t)
	for name := range c.truth {
		log := c.get(name)
		lines := bytes.SplitAfter(log, []byte("\n"))
		p := NewParser(Handler{})
		for i := 0; i < len(lines); i += 37 {
			part := bytes.Join(lines[i:min(len(lines), i+37)], nil)
			if err := p.Read(bytes.NewReader(part)); err != nil {
				t.Fatal(err)
			}
		}
		p.Flush()
		sameFigures(t, name, parse(t, log, Handler{}), p.Figures())
	}
}

// Two runs of a JVM in one file count as the two logs do.
func TestTwoJVMs(t *testing.T) {
	c := loadCorpus(t)
	for _, name := range []string{"jdk17-G1-all.log", "jdk17-Z-stall.log", "jdk25-Serial-all.log", "jdk17-Parallel-min.log"} {
		log := c.get(name)
		one := parse(t, log, Handler{})
		two := parse(t, append(slices.Clone(log), log...), Handler{})
		if two.JVMs != 2 || two.Pauses != 2*one.Pauses || two.SafepointTotal != 2*one.SafepointTotal || two.StallMax != one.StallMax || two.PauseTotal != 2*one.PauseTotal {
			t.Errorf("%s: %d runs, %d pauses; one alone has %d", name, two.JVMs, two.Pauses, one.Pauses)
		}
	}
}

// A log that ends anywhere has no more than the whole, and never less than a
// shorter one: what was read stays.
func TestCutAnywhere(t *testing.T) {
	c := loadCorpus(t)
	for _, name := range []string{"jdk17-G1-tospace.log", "jdk17-Serial-all.log", "jdk25-Z-all.log", "jdk25-GenShen-all.log", "jdk17-G1-wide.log"} {
		log := c.get(name)
		var last Figures
		for cut := len(log) / 50; cut < len(log); cut += len(log)/50 + 7 {
			f := parse(t, log[:cut], Handler{})
			if f.Pauses < last.Pauses || f.PauseTotal < last.PauseTotal || f.Safepoints < last.Safepoints || f.CPULines < last.CPULines || f.Damaged > 0 {
				t.Errorf("%s cut at %d: %+v after %+v", name, cut, f, last)
			}
			last = *f
		}
		if whole := parse(t, log, Handler{}); whole.Pauses < last.Pauses {
			t.Errorf("%s: %d pauses cut, %d whole", name, last.Pauses, whole.Pauses)
		}
	}
}

// The same for the old format, at every byte.
func TestLegacyCutAnywhere(t *testing.T) {
	for _, c := range allLegacy() {
		whole := parse(t, []byte(c.log), Handler{})
		last := int64(0)
		for cut := range c.log {
			f := parse(t, []byte(c.log[:cut]), Handler{})
			if f.Pauses < last || f.Pauses > whole.Pauses {
				t.Errorf("%s cut at %d: %d pauses after %d, the whole has %d", c.name, cut, f.Pauses, last, whole.Pauses)
				break
			}
			last = f.Pauses
		}
	}
}

// Lines of others between those of the old format change nothing.
func TestLegacyForeign(t *testing.T) {
	for _, c := range allLegacy() {
		want := metrics(parse(t, []byte(c.log), Handler{}))
		crlf := strings.ReplaceAll(strings.ReplaceAll(c.log, "\r", ""), "\n", "\r\n")
		mixed := perLine([]byte(c.log), func(_ int, s string) string {
			return "2026-12-01 05:28:05,754 INFO  [main] kafka.server.KafkaServer - started, took 0.5 secs\n" + s
		})
		for what, log := range map[string][]byte{"CRLF": []byte(crlf), "foreign lines": mixed} {
			for k, v := range metrics(parse(t, log, Handler{})) {
				if v != want[k] {
					t.Errorf("%s with %s: %s = %s, was %s", c.name, what, k, v, want[k])
				}
			}
		}
	}
}

func TestRotationOrder(t *testing.T) {
	for _, c := range []struct{ name, files, want string }{
		{"HotSpot, going round", "gc.log=5.0 gc.log.0=3.0 gc.log.1=4.0 gc.log.2=1.0 gc.log.3=2.0", "gc.log.2 gc.log.3 gc.log.0 gc.log.1 gc.log"},
		{"logrotate", "gc.log=5.0 gc.log.1=4.0 gc.log.2=3.0 gc.log.3=2.0", "gc.log.3 gc.log.2 gc.log.1 gc.log"},
		{"two runs", "gc.log=0.1 gc.log.0=9.0 gc.log.1=0.5 gc.log.2=5.0", "gc.log.1 gc.log.2 gc.log.0 gc.log"},
		{"JDK 8", "gc.log.0=3.0 gc.log.1.current=4.0 gc.log.2=1.0", "gc.log.2 gc.log.0 gc.log.1.current"},
	} {
		var parts []Part
		for f := range strings.FieldsSeq(c.files) {
			name, uptime, _ := strings.Cut(f, "=")
			parts = append(parts, NewPart(name, strings.NewReader("["+uptime+"00s][info][gc] Using G1\n")))
		}
		Order(parts)
		var got []string
		for _, p := range parts {
			got = append(got, p.Path)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}

func TestBaseName(t *testing.T) {
	for file, want := range map[string]string{
		"gc.log": "gc.log", "a/gc.log.0": "a/gc.log", "gc.log.3.current": "gc.log", "gc.log.2.gz": "gc.log", "gc.log.zst": "gc.log",
		"gc-%t.log": "gc-%t.log", "gc-2026-11-30_23-51-22.log.12": "gc-2026-11-30_23-51-22.log", "gc-pid4242.log": "gc-pid4242.log",
		"gc.log-20261130.gz": "gc.log", "gc.log.2026-11-30": "gc.log",
	} {
		if got := BaseName(file); got != want {
			t.Errorf("%s is of %s, want %s", file, got, want)
		}
	}
}

func FuzzFeed(f *testing.F) {
	c := loadCorpus(f)
	for _, name := range []string{"jdk17-G1-oom.log", "jdk25-Z-all.log", "jdk17-Shenandoah-degenmin.log", "jdk17-G1-wide.log"} {
		f.Add(c.get(name)[:4000])
	}
	for _, l := range allLegacy() {
		f.Add([]byte(l.log))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		bad := func(d time.Duration) bool { return d < 0 }
		p := NewParser(Handler{
			Pause: func(p *Pause) {
				if bad(p.Duration) || p.Kind == "" || p.Line < 1 || p.Start.Slack < 0 {
					t.Fatalf("%+v", p)
				}
			},
			Safepoint: func(s *Safepoint) {
				if bad(s.Total) {
					t.Fatalf("%+v", s)
				}
			},
			Stall: func(s *Stall) {
				if bad(s.Duration) {
					t.Fatalf("%+v", s)
				}
			},
		})
		if err := p.Read(bytes.NewReader(b)); err != nil {
			t.Fatal(err)
		}
		p.Flush()
		if len(p.pending) > 0 || len(p.legacy.top) > 2*maxEntryText || len(p.words) > maxWords {
			t.Fatal("it keeps too much")
		}
	})
}
