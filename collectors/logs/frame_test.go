package logs

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// taker keeps lines with what is known of them.
type taker struct{ lines []string }

// Line implements Consumer.
func (c *taker) Line(l *Line) {
	s := string(l.Text)
	if !l.At.IsZero() {
		s = l.At.Format("15:04:05.000") + " " + s
	}
	if l.Origin != "" {
		s = l.Origin + ": " + s
	}
	if l.Cut {
		s += " (cut)"
	}
	c.lines = append(c.lines, s)
}

func framed(text string, format Format) []string {
	c := &taker{}
	f := newFeeder(&File{Format: format}, c)
	f.framer.boot = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	f.feed([]byte(text), "", 0, true)
	return c.lines
}

const exportText = "__CURSOR=s=1\n__REALTIME_TIMESTAMP=1772334761123456\n_SYSTEMD_UNIT=kafka.service\nMESSAGE=one\n\n" +
	"__CURSOR=s=2\n__REALTIME_TIMESTAMP=1772334762000000\nSYSLOG_IDENTIFIER=java\nMESSAGE\n\x0a\x00\x00\x00\x00\x00\x00\x00two\nthree\x01\n\n" +
	"__CURSOR=s=3\nCOREDUMP\n\x03\x00\x00\x00\x00\x00\x00\x00\n\n\n\nMESSAGE=last\n\n"

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		name, text string
		format     Format
		want       []string
	}{
		{"plain", "one\r\ntwo\n\nthree", FormatAuto, []string{"one", "two", "three"}},
		{"colours and NULs", "\x1b[1;31mred\x1b[0m text\n\x00\x00ab\x00c\n\x1b[\n", FormatAuto, []string{"red text", "abc", "["}},
		{"compose", "broker-1  | one\nbroker-1  | two | x\nbroker-1  |\n", FormatAuto, []string{"broker-1: one", "broker-1: two | x"}},
		{"a bar in a line is no container", "2026-03-01 | x\nWARN | y\n", FormatAuto, []string{"2026-03-01 | x", "WARN | y"}},
		{"kubectl", "2026-03-01T03:12:41.123456789Z one\n2026-03-01T05:12:42.5+02:00 two\n", FormatAuto, []string{"03:12:41.123 one", "03:12:42.500 two"}},
		{
			"CRI", "2026-03-01T03:12:41.1Z stdout P one \n2026-03-01T03:12:41.2Z stderr F other\n2026-03-01T03:12:41.3Z stdout F line\n", FormatAuto,
			[]string{"stderr: 03:12:41.200 other", "stdout: 03:12:41.300 one line"},
		},
		{
			"json-file", `{"log":"a \"quoted\" \u003cb\u003e \ud83d\ude00\n","stream":"stdout","time":"2026-03-01T03:12:41.1Z"}` + "\n" +
				`{"log":"half ","stream":"stderr","time":"2026-03-01T03:12:41.2Z"}` + "\n" + `{"log":"done\n","stream":"stderr","time":"2026-03-01T03:12:41.3Z"}` + "\n",
			FormatAuto,
			[]string{`stdout: 03:12:41.100 a "quoted" <b> 😀`, "stderr: 03:12:41.300 half done"},
		},
		{"JSON of a program", `{"level":"WARN","message":"x"}` + "\n", FormatAuto, []string{`{"level":"WARN","message":"x"}`}},
		{
			"journal as JSON", `{"__REALTIME_TIMESTAMP":"1772334761123456","_SYSTEMD_UNIT":"kafka.service","MESSAGE":"one"}` + "\n" +
				`{"MESSAGE":[116,119,111],"__REALTIME_TIMESTAMP":"1772334762000000"}` + "\n" + `{"MESSAGE":null,"__REALTIME_TIMESTAMP":"1"}` + "\n",
			FormatAuto,
			[]string{"kafka.service: 03:12:41.123 one", "03:12:42.000 two"},
		},
		{"journal export", exportText, FormatExport, []string{"kafka.service: 03:12:41.123 one", "java: 03:12:42.000 two", "java: 03:12:42.000 three\x01", "last"}},
		{
			"kmsg", "6,339,5140900,-;NET: Registered\\x20protocol\n SUBSYSTEM=net\n3,340,3600000000,c;next\n", FormatAuto,
			[]string{"00:00:05.140 NET: Registered protocol", "01:00:00.000 next"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := framed(c.text, c.format); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestExportIsFoundOut(t *testing.T) {
	if got := framed(exportText, FormatAuto); len(got) != 4 {
		t.Errorf("got %q", got)
	}
}

func TestLongLines(t *testing.T) {
	whole, long := strings.Repeat("a", MaxLine), strings.Repeat("b", 3*bufferSize)
	r := newRig(t, nil, "store.log")
	r.append("store.log", "")
	r.poll()
	r.append("store.log", whole+"\n"+long)
	r.poll()
	r.append("store.log", "end of it\nnext\n")
	r.poll()
	r.want(whole, long[:MaxLine], "next")
	if r.got.cut != 1 {
		t.Errorf("%d lines are said to be cut, want 1", r.got.cut)
	}
}

func FuzzFraming(f *testing.F) {
	for _, format := range append(Formats(), FormatAuto) {
		f.Add(exportText, string(format))
		f.Add(`{"log":"a\u00`, string(format))
		f.Add("2026-03-01T03:12:41.1Z stdout P x\n6,1,2,-;a\\x0\nname  | \x1b[", string(format))
	}
	f.Fuzz(func(t *testing.T, text, format string) {
		if _, err := ParseFormat(format); err != nil {
			format = ""
		}
		whole := framed(text, Format(format))
		for _, l := range whole {
			if len(l) > MaxLine+200 {
				t.Errorf("a line of %d bytes", len(l))
			}
		}
		if again := piecewise(text, Format(format)); fmt.Sprint(again) != fmt.Sprint(whole) {
			t.Errorf("in pieces %q, as a whole %q", again, whole)
		}
	})
}

// piecewise feeds a text that grows by a few bytes each time.
func piecewise(text string, format Format) []string {
	c := &taker{}
	f := newFeeder(&File{Format: format}, c)
	f.framer.boot = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	done := 0
	for end := 0; end <= len(text); end += 7 {
		done += f.feed([]byte(text[done:end]), "", int64(done), false)
	}
	f.feed([]byte(text[done:]), "", int64(done), true)
	return c.lines
}
