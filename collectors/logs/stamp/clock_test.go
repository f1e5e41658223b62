package stamp

import (
	"strings"
	"testing"
	"time"
)

func must(t *testing.T, line string) Stamp {
	t.Helper()
	s, ok := Find([]byte(line))
	if !ok {
		t.Fatalf("%q has no stamp", line)
	}
	return s
}

func load(t *testing.T, name string) *time.Location {
	t.Helper()
	l, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func utc(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return t
}

// TestResolve looks at one line with nothing else known.
func TestResolve(t *testing.T) {
	berlin := load(t, "Europe/Berlin")
	kathmandu := load(t, "Asia/Kathmandu")
	ref := utc("2026-03-01T00:30:00Z")
	for _, c := range []struct {
		name, line, product string
		options             Options
		want                string
		early, late         time.Duration
		why, note           string
	}{
		{
			name: "RocketMQ server", line: "2026-01-02 03:04:05 WARN x - y", product: "rocketmq",
			want: "2026-01-01T19:04:05Z", late: time.Second, why: "GMT+8",
		},
		{
			name: "RocketMQ 4 client", line: "2026-01-02 03:04:05,678 WARN x - y", product: "rocketmq", options: Options{Host: berlin},
			want: "2026-01-02T02:04:05.678Z", late: time.Millisecond, why: "zone of this host",
		},
		{
			name: "RocketMQ 5 client", line: "2026-01-02 03:04:05.678 WARN [1] x - y", product: "rocketmq",
			want: "2026-01-01T19:04:05.678Z", late: time.Millisecond, why: "GMT+8",
		},
		{
			name: "RocketMQ with a JSON layout", line: `{"time":"2026-01-02 03:04:05"}`, product: "rocketmq",
			want: "2026-01-02T03:04:05Z", late: time.Second, why: "nothing proves one",
		},
		{
			name: "Kafka", line: "[2026-01-02 03:04:05,678] INFO x", product: "kafka",
			want: "2026-01-02T03:04:05.678Z", late: time.Millisecond, why: "nothing proves one",
		},
		{
			name: "set, a zone with three quarters", line: "[2026-01-02 03:04:05,678] INFO x", product: "kafka", options: Options{Zone: kathmandu},
			want: "2026-01-01T21:19:05.678Z", late: time.Millisecond, why: "as set",
		},
		{
			name: "set, against the product's default", line: "2026-01-02 03:04:05 WARN x - y", product: "rocketmq", options: Options{Zone: berlin},
			want: "2026-01-02T02:04:05Z", late: time.Second, why: "as set",
		},
		{
			name: "the stamp says it", line: "2026-01-02T03:04:05+05:30 x", options: Options{Zone: berlin},
			want: "2026-01-01T21:34:05Z", late: time.Second, why: "the stamp says it",
		},
		{
			name: "the hour that is left out", line: "[2026-03-29 02:30:00,000] x", options: Options{Zone: berlin},
			want: "2026-03-29T01:30:00Z", early: time.Hour, late: time.Millisecond, note: "was never shown",
		},
		{
			name: "just before it", line: "[2026-03-29 01:59:59,000] x", options: Options{Zone: berlin},
			want: "2026-03-29T00:59:59Z", late: time.Millisecond,
		},
		{
			name: "just after it", line: "[2026-03-29 03:00:00,000] x", options: Options{Zone: berlin},
			want: "2026-03-29T01:00:00Z", late: time.Millisecond,
		},
		{
			name: "the hour that is repeated", line: "[2026-10-25 02:30:00,000] x", options: Options{Zone: berlin},
			want: "2026-10-25T00:30:00Z", late: time.Hour + time.Millisecond, note: "was shown twice",
		},
		{
			name: "half an hour that is repeated", line: "[2026-04-05 01:45:00,000] x", options: Options{Zone: load(t, "Australia/Lord_Howe")},
			want: "2026-04-04T14:45:00Z", late: 30*time.Minute + time.Millisecond, note: "was shown twice",
		},
		{
			name: "half an hour that is left out", line: "[2026-10-04 02:15:00,000] x", options: Options{Zone: load(t, "Australia/Lord_Howe")},
			want: "2026-10-03T15:45:00Z", early: 30 * time.Minute, late: time.Millisecond, note: "was never shown",
		},
		{
			name: "a repeated hour in a zone with three quarters", line: "[2026-04-05 03:00:00,000] x", options: Options{Zone: load(t, "Pacific/Chatham")},
			want: "2026-04-04T13:15:00Z", late: time.Hour + time.Millisecond, note: "was shown twice",
		},
		{
			name: "a day that was left out", line: "[2011-12-30 12:00:00,000] x", options: Options{Zone: load(t, "Pacific/Apia")},
			want: "2011-12-30T22:00:00Z", early: 24 * time.Hour, late: time.Millisecond, note: "was never shown",
		},
		{
			name: "no year, this one", line: "Jan  2 03:04:05 h x", options: Options{Reference: ref},
			want: "2026-01-02T03:04:05Z", late: time.Second,
		},
		{
			name: "no year, the last one", line: "Dec 31 03:04:05 h x", options: Options{Reference: ref},
			want: "2025-12-31T03:04:05Z", late: time.Second,
		},
		{
			name: "no year, a leap day", line: "Feb 29 03:04:05 h x", options: Options{Reference: ref},
			want: "2024-02-29T03:04:05Z", late: time.Second,
		},
		{
			name: "no date, before midnight", line: "23:59:05.678 x", options: Options{Reference: ref},
			want: "2026-02-28T23:59:05.678Z", late: time.Millisecond, note: "no date",
		},
		{
			name: "uptime", line: "[12345.678901] INFO: x", options: Options{Boot: utc("2026-01-02T00:00:00Z")},
			want: "2026-01-02T03:25:45.678901Z", early: time.Second, late: time.Second, why: "from boot",
		},
		{
			name: "uptime of an unknown boot", line: "[12345.678901] INFO: x", want: "none", note: "boot",
		},
		{
			name: "epoch", line: "1767323045678 x", options: Options{Zone: berlin},
			want: "2026-01-02T03:04:05.678Z", late: time.Millisecond,
		},
		{
			name: "container", line: "2026-01-01T19:04:06.5Z stdout F 2026-01-02 03:04:05 WARN x - y", product: "kafka",
			want: "2026-01-01T19:04:05Z", late: time.Second, why: "the stamp before it",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock := NewClock(c.options)
			span, ok := clock.Resolve(must(t, c.line), c.product)
			got := "none"
			if ok {
				got = span.From.Format(time.RFC3339Nano)
			}
			if got != c.want || span.Early != c.early || span.Late != c.late {
				t.Errorf("got %s -%v +%v, want %s -%v +%v", got, span.Early, span.Late, c.want, c.early, c.late)
			}
			if !strings.Contains(span.Zone.Why, c.why) || !strings.Contains(span.Note, c.note) || c.note == "" && span.Note != "" {
				t.Errorf("zone %q, note %q", span.Zone, span.Note)
			}
		})
	}
}

// TestRepeatedHourInOrder has a file that goes through the hour twice.
func TestRepeatedHourInOrder(t *testing.T) {
	c := NewClock(Options{Zone: load(t, "Europe/Berlin")})
	for _, step := range []struct{ line, want string }{
		{"[2026-10-25 02:10:00,000] x", "2026-10-25T00:10:00Z"},
		{"[2026-10-25 02:50:00,000] x", "2026-10-25T00:50:00Z"},
		{"[2026-10-25 02:05:00,000] x", "2026-10-25T01:05:00Z"},
		{"[2026-10-25 02:55:00,000] x", "2026-10-25T01:55:00Z"},
		{"[2026-10-25 03:00:00,000] x", "2026-10-25T02:00:00Z"},
	} {
		span, _ := c.Resolve(must(t, step.line), "kafka")
		if got := span.From.Format(time.RFC3339); got != step.want {
			t.Errorf("%s: got %s, want %s", step.line, got, step.want)
		}
	}
}

func TestEvidence(t *testing.T) {
	const line = "[2026-01-02 03:04:05,678] INFO x"
	at := func(offset time.Duration) time.Time { return utc("2026-01-02T03:04:05.678Z").Add(-offset) }
	for name, c := range map[string]struct {
		see   func(*Clock, Stamp) bool
		zone  string
		proof Proof
	}{
		"live":                  {func(c *Clock, s Stamp) bool { return c.SawLive(s, at(time.Hour).Add(3*time.Second)) }, "UTC+01:00", Observed},
		"live, half an hour":    {func(c *Clock, s Stamp) bool { return c.SawLive(s, at(-210*time.Minute).Add(time.Second)) }, "UTC-03:30", Observed},
		"live, three quarters":  {func(c *Clock, s Stamp) bool { return c.SawLive(s, at(345*time.Minute)) }, "UTC+05:45", Observed},
		"live, host's own":      {func(c *Clock, s Stamp) bool { return c.SawLive(s, at(0)) }, "UTC", Observed},
		"live, farthest":        {func(c *Clock, s Stamp) bool { return c.SawLive(s, at(14*time.Hour).Add(time.Minute)) }, "UTC+14:00", Observed},
		"live, five minutes":    {func(c *Clock, s Stamp) bool { return !c.SawLive(s, at(0).Add(5*time.Minute)) }, "UTC", Assumed},
		"live, days old":        {func(c *Clock, s Stamp) bool { return !c.SawLive(s, at(72*time.Hour)) }, "UTC", Assumed},
		"end of file":           {func(c *Clock, s Stamp) bool { return c.SawEnd(s, at(-5*time.Hour).Add(time.Second)) }, "UTC-05:00", FileTime},
		"a copied file":         {func(c *Clock, s Stamp) bool { return !c.SawEnd(s, at(0).Add(100*time.Second)) }, "UTC", Assumed},
		"start":                 {func(c *Clock, s Stamp) bool { return c.SawStart(s, at(8*time.Hour).Add(-2*time.Second), 2*time.Second) }, "UTC+08:00", Proven},
		"start, written late":   {func(c *Clock, s Stamp) bool { return c.SawStart(s, at(8*time.Hour).Add(-90*time.Second), time.Second) }, "UTC+08:00", Proven},
		"start, of another day": {func(c *Clock, s Stamp) bool { return !c.SawStart(s, at(0).Add(-50*time.Hour), time.Second) }, "UTC", Assumed},
	} {
		t.Run(name, func(t *testing.T) {
			clock := NewClock(Options{})
			if !c.see(clock, must(t, line)) {
				t.Error("taken wrongly")
			}
			if z := clock.Zone(); z.Location.String() != c.zone || z.Proof != c.proof {
				t.Errorf("got %v, proof %d", z, z.Proof)
			}
		})
	}
}

func TestSurerEvidenceStays(t *testing.T) {
	s := must(t, "2026-01-02 03:04:05 WARN x - y")
	c := NewClock(Options{})
	c.SawStart(s, utc("2026-01-01T18:04:04Z"), time.Second) // UTC+9, whatever RocketMQ ships
	c.SawLive(s, utc("2026-01-02T03:04:05Z"))
	c.SawEnd(s, utc("2026-01-02T04:04:05Z"))
	span, _ := c.Resolve(s, "rocketmq")
	if got := span.Zone.Location.String(); got != "UTC+09:00" {
		t.Errorf("got %s", span.Zone)
	}
}

func TestProofAgainstTheZoneThatWasSet(t *testing.T) {
	c := NewClock(Options{Zone: time.UTC})
	c.SawStart(must(t, "2026-01-02 03:04:05 WARN x - y"), utc("2026-01-01T19:04:04Z"), time.Second)
	if c.Zone().Location != time.UTC || !strings.Contains(c.Doubt(), "UTC+08:00 is proven") {
		t.Errorf("zone %v, doubt %q", c.Zone(), c.Doubt())
	}
	c = NewClock(Options{Zone: Fixed(8 * time.Hour)})
	c.SawStart(must(t, "2026-01-02 03:04:05 WARN x - y"), utc("2026-01-01T19:04:04Z"), time.Second)
	if c.Doubt() != "" {
		t.Errorf("doubt %q", c.Doubt())
	}
}

// TestZoneFollowsItsHost has the clocks go forward while lines arrive.
func TestZoneFollowsItsHost(t *testing.T) {
	c := NewClock(Options{})
	for _, step := range []struct{ line, read, want string }{
		{"[2026-03-29 01:59:59,000] x", "2026-03-29T00:59:59.1Z", "UTC+01:00"},
		{"[2026-03-29 03:00:01,000] x", "2026-03-29T01:00:01.1Z", "UTC+02:00"},
	} {
		s := must(t, step.line)
		c.SawLive(s, utc(step.read))
		if span, _ := c.Resolve(s, "kafka"); span.Zone.Location.String() != step.want {
			t.Errorf("%s: %v", step.line, span.Zone)
		}
	}
}

func TestLasted(t *testing.T) {
	c := NewClock(Options{})
	span, _ := c.Resolve(must(t, "2026-01-02 03:04:05 WARN x - y"), "rocketmq")
	took := span.Lasted(1083*time.Millisecond, time.Time{})
	if !took.To.Equal(span.To) || took.To.Sub(took.From) != 1083*time.Millisecond || took.Late != time.Second {
		t.Errorf("got %+v", took)
	}
	exact := span.Lasted(1083*time.Millisecond, utc("2026-01-01T19:04:03.9Z"))
	if !exact.From.Equal(utc("2026-01-01T19:04:03.9Z")) || !exact.To.Equal(utc("2026-01-01T19:04:04.983Z")) || exact.Late != time.Millisecond {
		t.Errorf("got %+v", exact)
	}
	absurd := span.Lasted(time.Second, time.UnixMilli(1500))
	if !absurd.To.Equal(span.To) || absurd.To.Sub(absurd.From) != time.Second || absurd.Note == "" {
		t.Errorf("got %+v", absurd)
	}
}

func TestParseZone(t *testing.T) {
	for name, want := range map[string]string{
		"UTC": "UTC", "Z": "UTC", "+08:00": "UTC+08:00", "+0530": "UTC+05:30", "-3": "UTC-03:00", "GMT+8": "UTC+08:00",
		"utc-03:30": "UTC-03:30", "Asia/Shanghai": "Asia/Shanghai", "": "", "+25": "", "Mars/Olympus": "", "../../etc/passwd": "", "+08:00x": "",
	} {
		l, err := ParseZone(name)
		got := ""
		if err == nil {
			got = l.String()
		}
		if got != want {
			t.Errorf("%q: got %q (%v), want %q", name, got, err, want)
		}
	}
}
