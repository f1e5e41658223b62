package gallery

import (
	"fmt"
	"strconv"
	"time"

	"stallmark/storage/model"
	"stallmark/web"
)

// Patterns implements web.Logs.
func (b *Backend) Patterns() []model.LogPattern {
	s, _ := b.get()
	return s.Patterns
}

// Unknown implements web.Logs.
func (b *Backend) Unknown() []web.UnknownLine {
	s, _ := b.get()
	return s.Unknown
}

func logPatterns() []model.LogPattern {
	return []model.LogPattern{
		{
			ID: "rocketmq-timeout-clean-queue", Product: "rocketmq", Versions: "4.x, 5.x", Where: "broker.log, WARN", Proof: model.ProofDirect,
			Title: "The broker threw away a send that waited too long", File: "rocketmq-broker.yaml",
			Meaning: "A send waited in the queue for longer than waitTimeMillsInSendQueue (200 ms) and was answered with SYSTEM_BUSY.",
			Not:     "No proof that the disk is slow: whatever holds up the append fills the queue.",
		},
		{
			ID: "rocketmq-put-in-lock", Product: "rocketmq", Versions: "all", Where: "store.log, WARN", Proof: model.ProofDirect,
			Title: "An append held the lock for more than 500 ms", File: "rocketmq-store.yaml",
			Meaning: "The append to the mapped commit log took that long with the lock held; it ended when the line was written.",
			Not:     "Not the flush: that runs on a thread of its own.",
		},
		{
			ID: "rocketmq-pagecachert", Product: "rocketmq", Versions: "4.x", Where: "store.log, INFO", Proof: model.ProofContext,
			Title: "Times of all appends of the last minute", File: "rocketmq-store.yaml", Meaning: "A histogram, once a minute.",
		},
	}
}

// logEvent is a matched line as collectors/logs stores it.
func logEvent(at time.Time, pattern int, text string, attrs ...string) model.Event {
	p := logPatterns()[pattern]
	e := model.Event{From: at, To: at, Kind: model.EventLog, Source: "logs", Text: text, Attrs: map[string]string{
		"pattern": p.ID, "product": p.Product, "proof": string(p.Proof), "source": "/home/rmq/logs/rocketmqlogs/store.log", "part": "store.log", "offset": "81920",
		"process": "rocketmq-broker", "pid": "4242", "zone": "+08:00", "zone_why": "the line holds an instant (storeTimestamp)", "uncertainty_ms": "1000",
	}}
	for i := 0; i+1 < len(attrs); i += 2 {
		e.Attrs[attrs[i]] = attrs[i+1]
	}
	return e
}

// logLines are the broker's lines of a stall that began at a time.
func logLines(began time.Time, n int) []model.Event {
	var out []model.Event
	for i := range n {
		at := began.Add(7*time.Second + time.Duration(i)*1700*time.Millisecond)
		stamp := at.Add(8 * time.Hour).Format("2006-01-02 15:04:05")
		if i%3 == 2 {
			ms := 540 + i*97%1600
			e := logEvent(at, 1, fmt.Sprintf("%s WARN SendMessageThread_%d - [NOTIFYME]putMessage in lock cost time(ms)=%d, bodyLength=1024 AppendMessageResult=PUT_OK", stamp, 1+i%4, ms),
				"seconds", strconv.FormatFloat(float64(ms)/1000, 'g', -1, 64), "thread", fmt.Sprintf("SendMessageThread_%d", 1+i%4), "topic", "orders")
			e.From = e.To.Add(-time.Duration(ms) * time.Millisecond)
			e.Attrs["before"] = stamp + " INFO FlushRealTimeService - Flush data to disk costs 812 ms\n" + stamp + " INFO StoreStatsService - [STOREPUT] putTps 412.3"
			e.Attrs["after"] = stamp + " INFO AllocateMappedFileService - created 00000000040802189312"
			out = append(out, e)
			continue
		}
		e := logEvent(at, 0, stamp+" WARN BrokerControllerScheduledThread1 - [TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 231ms, size of queue: 4096",
			"source", "/home/rmq/logs/rocketmqlogs/broker.log", "part", "broker.log", "thread", "BrokerControllerScheduledThread1")
		e.Count = 1 + i%5
		out = append(out, e)
	}
	return out
}

func unknownLines() []web.UnknownLine {
	first := end().Add(-3 * time.Hour)
	one := func(n int64, level, shape, example string) web.UnknownLine {
		return web.UnknownLine{
			Shape: shape, Level: level, Example: example, Source: "/home/rmq/logs/rocketmqlogs/remoting.log", Process: "rocketmq-broker",
			Count: n, First: first, Last: end().Add(-40 * time.Second),
		}
	}
	return []web.UnknownLine{
		one(1841, "warn", "# WARN NettyServerCodecThread_# - RemotingUtil.exceptionCaught #", "2026-03-01 11:14:02 WARN NettyServerCodecThread_3 - RemotingUtil.exceptionCaught 10.1.2.3:52114"),
		one(12, "error", "# ERROR PullMessageThread_# - the broker's consumer group(#) offset not exist", "2026-03-01 11:02:10 ERROR PullMessageThread_7 - the broker's consumer group(g1) offset not exist"),
	}
}

func logCoverage() []model.Coverage {
	since := end().Add(-time.Hour)
	return []model.Coverage{
		{Source: "log /home/rmq/logs/rocketmqlogs/store.log", State: model.SourceOK, Since: since},
		{Source: "log /home/rmq/logs/rocketmqlogs/broker.log", State: model.SourceOK, Since: since},
		{Source: "GC log of rocketmq-broker", State: model.SourceAbsent, Detail: "the JVM was started without one", Mend: "-Xlog:gc*,safepoint:file=FILE:time,uptime,level,tags:filecount=5,filesize=30M", Since: since},
		{Source: "logs", State: model.SourcePartial, Detail: "GC log of rocketmq-broker: the JVM was started without one", Mend: "see the coverage of each log", Since: since},
	}
}

// logged is a stall with what the broker wrote.
func logged() Scene {
	s := Stalling()
	s.About = "logs: what the broker wrote in a stall"
	s.Events = append(s.Events, logLines(end().Add(-128*time.Second), 60)...)
	s.Patterns, s.Unknown = logPatterns(), unknownLines()
	s.Report.Coverage = append(s.Report.Coverage, logCoverage()...)
	return s
}

// loggedMany is a storm of lines.
func loggedMany() Scene {
	s := base("logs: 5,000 lines", host(end(), span, calmLoad()))
	began := end().Add(-14 * time.Minute)
	for i := range 5000 {
		at := began.Add(time.Duration(i) * 160 * time.Millisecond)
		e := logEvent(at, i%3, at.Format("2006-01-02 15:04:05")+" WARN SendMessageThread_1 - line "+strconv.Itoa(i))
		e.Count = 1 + i%400
		s.Events = append(s.Events, e)
	}
	s.Patterns = logPatterns()
	s.Report.Coverage = append(s.Report.Coverage, logCoverage()[:2]...)
	return s
}

// loggedNone is a host on which no log is followed.
func loggedNone() Scene {
	s := base("logs: none is found", host(end(), time.Minute, calmLoad()))
	since := end().Add(-time.Hour)
	s.Report.Coverage = append(s.Report.Coverage,
		model.Coverage{Source: "broker logs of rocketmq-broker", State: model.SourceAbsent, Detail: "looked for *.log in /home/rmq/logs/rocketmqlogs: not there", Mend: "see ${user.home}/logs/rocketmqlogs of the broker's user, or name the files with --log", Since: since},
		model.Coverage{Source: "logs", State: model.SourceAbsent, Detail: "broker logs of rocketmq-broker: looked for *.log in /home/rmq/logs/rocketmqlogs: not there", Mend: "name the log files with --log", Since: since},
	)
	s.Patterns = logPatterns()
	return s
}

// hostileLogs puts hostile lines into a scene.
func hostileLogs(s *Scene) {
	e := logEvent(end().Add(-time.Minute), 0, Hostile, "pattern", Hostile, "product", Hostile, "proof", Hostile, "source", Hostile, "process", Hostile, "part", Hostile,
		"origin", Hostile, "before", Hostile+"\n"+Hostile, "after", Hostile, "zone", Hostile, "zone_why", Hostile, "time_note", Hostile, "topic", Hostile, Hostile, Hostile)
	s.Events = append(s.Events, e)
	s.Patterns = []model.LogPattern{{ID: Hostile, Title: Hostile, Product: Hostile, Proof: Hostile, Meaning: Hostile, Not: Hostile, Versions: Hostile, Where: Hostile, File: Hostile}}
	s.Events = append(s.Events, model.Event{From: end().Add(-time.Minute), To: end(), Kind: model.EventPause, Text: Hostile, Attrs: map[string]string{
		"what": Hostile, "kind": Hostile, "class": Hostile, "cause": Hostile, "detail": Hostile, "process": Hostile, "pid": Hostile, "clock": Hostile, "ms": Hostile, "user_ms": "NaN",
	}})
	s.Unknown = []web.UnknownLine{{Shape: Hostile, Level: Hostile, Example: Hostile, Source: Hostile, Process: Hostile, Count: 3, First: end(), Last: end()}}
	s.Report.Coverage = append(s.Report.Coverage, model.Coverage{Source: "log " + Hostile, State: model.SourceFailed, Detail: Hostile, Mend: Hostile})
}
