package stamp

import (
	"fmt"
	"testing"
	"time"
)

// show is a stamp in one line, for tables.
func show(s Stamp, ok bool) string {
	if !ok {
		return "none"
	}
	switch s.Kind {
	case Uptime:
		return "up " + s.Up.String()
	case Instant:
		return "instant " + s.Time.Format(time.RFC3339Nano) + " " + s.Step.String()
	}
	out := s.Time.Format("2006-01-02T15:04:05.999999999")
	switch {
	case s.NoDate:
		out = s.Time.Format("15:04:05.999999999")
	case s.NoYear:
		out = s.Time.Format("01-02T15:04:05.999999999")
	}
	if s.Zoned {
		out += " " + s.Offset.String()
	}
	if s.Mark != 0 {
		out += " " + string(s.Mark)
	}
	out += " " + s.Step.String()
	if s.JSON {
		out += " json"
	}
	if !s.Seen.IsZero() {
		out += " seen " + s.Seen.Format(time.RFC3339Nano)
	}
	return out
}

func TestFind(t *testing.T) {
	for line, want := range map[string]string{
		// RocketMQ: servers, 4.x client, 4.2 client, 5.x client
		"2026-01-02 03:04:05 WARN SendMessageThread_1 - [NOTIFYME]putMessage": "2026-01-02T03:04:05 1s",
		"2026-01-02 03:04:05,678 WARN RocketmqClient - x\r":                   "2026-01-02T03:04:05.678 , 1ms",
		"2018-02-25 09:11:18,566 WARN  RocketmqClient , x":                    "2018-02-25T09:11:18.566 , 1ms",
		"2026-01-02 03:04:05.678 WARN  [123] [main] [o.a.r.c#m:1] - x":        "2026-01-02T03:04:05.678 . 1ms",
		// Kafka, Strimzi
		"[2026-01-02 03:04:05,678] INFO [Partition t-0 broker=1] x (kafka.cluster.Partition)": "2026-01-02T03:04:05.678 , 1ms",
		"2025-07-03 13:05:51 INFO  [main] Class:12 - x":                                       "2025-07-03T13:05:51 1s",
		// ZooKeeper, Elasticsearch, etcd, Redis, RabbitMQ
		"2024-01-01 00:00:00,123 [myid:1] - WARN  [SyncThread:1:FileTxnLog@1] - x":         "2024-01-01T00:00:00.123 , 1ms",
		"[2024-01-01T00:00:00,123][WARN ][o.e.m.j.JvmGcMonitorService] [n] [gc][1] x":      "2024-01-01T00:00:00.123 , 1ms",
		`{"level":"warn","ts":"2023-01-02T03:04:05.678Z","caller":"wal/wal.go:802"}`:       "2023-01-02T03:04:05.678 0s . 1ms json",
		`{"level":"warn","ts":"2023-01-02T03:04:05.678+0800","caller":"x"}`:                "2023-01-02T03:04:05.678 8h0m0s . 1ms json",
		"2020-01-01 00:00:00.123456 W | wal: sync duration of 1.3s, expected less than 1s": "2020-01-01T00:00:00.123456 . 1µs",
		"12345:M 02 Jan 2026 03:04:05.678 * Asynchronous AOF fsync":                        "2026-01-02T03:04:05.678 . 1ms",
		"[12345] 02 Jan 03:04:05.678 * Asynchronous AOF fsync":                             "01-02T03:04:05.678 . 1ms",
		"=WARNING REPORT==== 6-May-2019::03:41:49 ===":                                     "2019-05-06T03:41:49 1s",
		"2021-09-01 12:00:00.123456+00:00 [warning] <0.298.0> x":                           "2021-09-01T12:00:00.123456 0s . 1µs",
		// kernel and syslog
		"[12345.678901] INFO: task java:1 blocked":                  "up 3h25m45.678901s",
		"[   12.345678][ T6736] INFO: x":                            "up 12.345678s",
		"<6>[   12.345678] INFO: x":                                 "up 12.345678s",
		"[Wed Dec 19 03:36:07 2018] INFO: task":                     "2018-12-19T03:36:07 1s",
		"Jan  2 03:04:05 host kernel: [12345.678901] INFO: task":    "01-02T03:04:05 1s",
		"2026-01-02T03:04:05.678901+01:00 host kernel: INFO":        "2026-01-02T03:04:05.678901 1h0m0s . 1µs",
		"<14>1 2026-01-02T03:04:05.678Z host app - - - x":           "2026-01-02T03:04:05.678 0s . 1ms",
		"[2012-04-20 08:51:10] INFO: task":                          "2012-04-20T08:51:10 1s",
		`{"__REALTIME_TIMESTAMP":"1767323045678901","MESSAGE":"x"}`: "instant 2026-01-02T03:04:05.678901Z 1µs",
		// other layouts
		"03:04:05.678 [main] WARN x - y":                          "03:04:05.678 . 1ms",
		"I0102 03:04:05.678901    1 x.go:1] y":                    "01-02T03:04:05.678901 . 1µs",
		"Jan 02, 2026 3:04:05 PM x.Y z":                           "2026-01-02T15:04:05 1s",
		"02/Jan/2026:03:04:05 +0530 x":                            "2026-01-02T03:04:05 5h30m0s 1s",
		"02-Jan-2026 03:04:05.678 WARNING [main] x":               "2026-01-02T03:04:05.678 . 1ms",
		"2026/01/02 03:04:05 [error] x":                           "2026-01-02T03:04:05 1s",
		"1767323045 x":                                            "instant 2026-01-02T03:04:05Z 1s",
		"1767323045.678 x":                                        "instant 2026-01-02T03:04:05.678Z 1ms",
		"1767323045678 x":                                         "instant 2026-01-02T03:04:05.678Z 1ms",
		`{"@timestamp":"2026-01-02T03:04:05.678Z","message":"x"}`: "2026-01-02T03:04:05.678 0s . 1ms json",
		`{"message":"the \"time\":\"1999-01-01 00:00:00\"","time": "2026-01-02 03:04:05,678"}`: "2026-01-02T03:04:05.678 , 1ms json",
		`{"instant":{"epochSecond":1767323045,"nanoOfSecond":678000001},"level":"WARN"}`:       "instant 2026-01-02T03:04:05.678000001Z 1ns",
		`{"timeMillis":1767323045678,"level":"WARN"}`:                                          "instant 2026-01-02T03:04:05.678Z 1ms",
		// containers
		"broker-1  | 2026-01-02 03:04:05 WARN x - y":                                               "2026-01-02T03:04:05 1s",
		"\x1b[36mbroker-1  |\x1b[0m [2026-01-02 03:04:05,678] INFO x":                              "2026-01-02T03:04:05.678 , 1ms",
		"[pod/kafka-0/kafka] [2026-01-02 03:04:05,678] INFO x":                                     "2026-01-02T03:04:05.678 , 1ms",
		"INFO   | jvm 1    | 2018/02/03 10:11:12 | x":                                              "2018-02-03T10:11:12 1s",
		"2026-01-01T19:04:06.5Z stdout F 2026-01-02 03:04:05 WARN x - y":                           "2026-01-02T03:04:05 1s seen 2026-01-01T19:04:06.5Z",
		"2026-01-01T19:04:06.5Z [2026-01-02 03:04:05,678] INFO x":                                  "2026-01-02T03:04:05.678 , 1ms seen 2026-01-01T19:04:06.5Z",
		"2026-01-01T19:04:06.5Z stderr P \tat x.Y(Z.java:1)":                                       "2026-01-01T19:04:06.5 0s . 100ms",
		`{"log":"2026-01-02 03:04:05 WARN x\n","stream":"stdout","time":"2026-01-01T19:04:06.5Z"}`: "2026-01-02T03:04:05 1s seen 2026-01-01T19:04:06.5Z",
		`{"log":"\tat x.Y\n","stream":"stdout","time":"2026-01-01T19:04:06.5Z"}`:                   "2026-01-01T19:04:06.5 0s . 100ms seen 2026-01-01T19:04:06.5Z",
		`broker | {"time":"2026-01-02T03:04:05Z","msg":"x"}`:                                       "2026-01-02T03:04:05 0s 1s json",
		"\xef\xbb\xbf2026-01-02 03:04:05 WARN x":                                                   "2026-01-02T03:04:05 1s",
		// none
		"": "none",
		"\tat java.lang.Thread.run(Thread.java:748) 2026-01-02 03:04:05": "none",
		"Caused by: java.io.IOException: since 2026-01-02 03:04:05":      "none",
		"java.lang.OutOfMemoryError: Map failed":                         "none",
		"broker restarted at 2026-01-02 03:04:05":                        "none",
		"2026-13-02 03:04:05 x":                                          "none",
		"2026-02-30 03:04:05 x":                                          "none",
		"2026-01-02 25:04:05 x":                                          "none",
		"12345678 x":                                                     "none",
		"99999999999999999999 x":                                         "none",
		"3:04:05 x":                                                      "none",
		"10.0.0.1:10911 x":                                               "none",
		"2026-01-02":                                                     "none",
		"{":                                                              "none",
		`{"time":}`:                                                      "none",
	} {
		if got := show(Find([]byte(line))); got != want {
			t.Errorf("%q:\n got %s\nwant %s", line, got, want)
		}
	}
}

func TestBefore(t *testing.T) {
	text := []byte("[2026-01-02 03:04:05,678] ERROR x\njava.io.IOException: a\n\tat b\nCaused by: Map failed\n")
	for _, start := range []int{0, 34, 57, 63} {
		s, ok := Before(text, start)
		if got := show(s, ok); got != "2026-01-02T03:04:05.678 , 1ms" {
			t.Errorf("from %d: %s", start, got)
		}
	}
	if s, ok := Before(text[34:], 29); ok {
		t.Errorf("without a head: %s", show(s, ok))
	}
}

func FuzzFind(f *testing.F) {
	for _, line := range []string{
		"2026-01-02 03:04:05,678 x", "[12345.678901] x", "Jan  2 03:04:05 h x", `{"ts":1767323045.5}`, "I0102 03:04:05.678901 x",
		`{"log":"2026-01-02 03:04:05 x","time":"2026-01-01T19:04:06.5Z"}`, "a | 02 Jan 03:04:05.678 x", "\x1b[36m1767323045678",
		"2026-01-01T19:04:06.5Z stdout F 2026-01-02 03:04:05 x", "Jan 02, 2026 3:04:05 PM", "6-May-2019::03:41:49",
	} {
		f.Add([]byte(line))
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		s, ok := Find(line)
		if !ok {
			return
		}
		if s.Start < 0 || s.End <= s.Start || s.End > len(line) || s.Step <= 0 {
			t.Fatalf("%q: %+v", line, s)
		}
		c := NewClock(Options{Zone: berlin, Reference: time.Unix(1767323045, 0)})
		span, ok := c.Resolve(s, "kafka")
		if ok && (span.To.Before(span.From) || span.Early < 0 || span.Late < 0) {
			t.Fatalf("%q: %+v", line, span)
		}
		_ = fmt.Sprint(span.Zone)
	})
}
