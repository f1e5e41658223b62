package gallery

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"stallmark/rules/audit"
	"stallmark/storage/model"
	"stallmark/web"
)

// end is the canned present: two minutes into a stall at night.
func end() time.Time { return time.Date(2026, 3, 1, 3, 14, 49, 0, time.UTC) }

const span = 16 * time.Minute

// makers are all states of the page, each made when it is asked for.
func makers() map[string]func() Scene {
	return map[string]func() Scene{
		"stalling": Stalling, "likely": likely, "possible": possible, "resolved": resolved, "warning": warning,
		"calm": Calm, "calm-unknown": calmUnknown, "nearing": nearing, "unknown": unknownOnly, "no-data": noData, "denied": denied,
		"store-down": storeDown, "store-fails": storeFails, "hostile": hostile, "many-disks": manyDisks,
		"two-incidents": twoIncidents, "ending": ending, "mended": mended, "young": young, "newborn": newborn,
		"page-cache": cached, "page-cache-many": cachedMany, "page-cache-denied": cachedDenied,
		"logs": logged, "logs-many": loggedMany, "logs-none": loggedNone, "jvm": collected,
		"triage": pastes,
	}
}

// Names are the names of all scenes, sorted.
func Names() []string { return slices.Sorted(maps.Keys(makers())) }

// Find makes the scene of a name.
func Find(name string) (Scene, bool) {
	f, ok := makers()[name]
	if !ok {
		return Scene{}, false
	}
	return f(), true
}

func base(about string, d *Data) Scene {
	return Scene{
		About: about, Now: end(), Data: d, Catalog: catalogue(), Facts: facts(), Audit: audited(),
		Report: model.Report{RuledOut: ruledOut(), Coverage: coverage()},
		Self: web.Health{
			Started: end().Add(-9 * 24 * time.Hour), Interval: time.Second, RulesVersion: "builtin 5f2c91a0",
			Storage: web.Storage{Path: "/var/lib/stallmark/stallmark.db", Up: true, Bytes: 412 * mib, MaxBytes: 4 * gib, Blocks: 2880, LastWrite: 11 * time.Millisecond},
		},
	}
}

// Stalling is a confirmed stall with its whole chain: the vendor's script has
// raised the limits five minutes ago, and the dirty set has met them.
func Stalling() Scene {
	began := -128.0
	s := base("confirmed, with the whole chain", host(end(), span, load{
		psi: true,
		dirty: func(s float64) float64 {
			level := 310*mib + 90*mib*noise(s/9, 31) + ramp(s, -330, began)*3960*mib
			if s > began {
				level = 4350*mib + 190*mib*noise(s, 32)
			}
			return level
		},
		freerun: func(s float64) float64 {
			if s < -345 {
				return 1.36 * gib
			}
			return 4.18*gib - ramp(s, -345, 0)*60*mib
		},
		busy:    func(s float64) float64 { return 0.02 + 0.3*ramp(s, -330, began) + 0.55*ramp(s, began-3, began+3) },
		direct:  none,
		blocked: func(s float64) float64 { return ramp(s, began-1, began) * max(0, 4+3.5*noise(s, 33)) },
	}))
	start := end().Add(-128 * time.Second)
	s.Report.Findings = []model.Finding{
		dirtyFinding(start, nil),
		explaining(simple("f-append", "rocketmq-append-stall", "Appends wait inside the kernel", model.LayerMechanism, start.Add(3*time.Second), "Longest append", 2.1, "seconds", 0.5), "rocketmq-broker-busy"),
		simple("f-busy", "rocketmq-broker-busy", "The broker refuses sends: busy", model.LayerSymptom, start.Add(7*time.Second), "TIMEOUT_CLEAN_QUEUE lines", 853, "count", 1),
	}
	s.Report.Incidents = []model.Incident{{Root: "f-dirty", Findings: []string{"f-dirty", "f-append", "f-busy"}, Started: start}}
	s.Report.RuledOut = s.Report.RuledOut[1:]
	s.Report.Unknown = []model.Unknown{journalUnknown()}
	s.Events = append(settingEvents(), blockedEvents(start, end(), "dirty_throttle", "balance_dirty_pages")...)
	return s
}

// mended is a stall that ended when somebody set the limits back.
func mended() Scene {
	const back = -75.0
	s := Stalling()
	s.About = "a stall that a changed setting has ended"
	base := s.Data
	s.Data = NewData(end(), span, time.Second)
	for _, one := range base.series {
		if name := one.Labels().Get("__name__"); name != "stallmark_blocked_threads" && name != "node_pressure_io_waiting_seconds_total" {
			s.Data.series = append(s.Data.series, one)
		}
	}
	lasts := func(s float64) float64 { return ramp(s, -129, -128) * (1 - ramp(s, back, back+2)) }
	s.Data.Gauge(func(s float64) (float64, bool) { return math.Round(lasts(s) * max(0, 4+3.5*noise(s, 33))), true },
		"stallmark_blocked_threads", "process", "rocketmq-broker", "pid", "4242", "wait", "dirty_throttle")
	s.Data.Counter(func(s float64) float64 { return 0.03 + 0.6*lasts(s)*(1+0.2*noise(s, 1)) }, "node_pressure_io_waiting_seconds_total")
	at, over := end().Add(time.Duration(back)*time.Second), end().Add(time.Duration(back+3)*time.Second)
	s.Events = append(s.Events, model.Event{
		From: at, To: at, Kind: model.EventSetting, Source: "settings", Text: "sysctl.vm.dirty_ratio: 50 -> 20",
		Attrs: map[string]string{"key": "sysctl.vm.dirty_ratio", "old": "50", "new": "20"},
	})
	for i := range s.Report.Findings {
		s.Report.Findings[i].Ended, s.Report.Findings[i].State = &over, model.StateResolved
	}
	s.Report.Incidents[0].Ended = &over
	return s
}

// ending is a stall that was over a moment ago: its finding still watches.
func ending() Scene {
	s := Stalling()
	s.About = "a stall that was over a moment ago"
	over := end().Add(-7 * time.Second)
	for i := range s.Report.Findings {
		s.Report.Findings[i].Ended = &over
	}
	s.Report.Incidents[0].Ended = &over
	return s
}

// young is a recording of forty seconds with a stall in it.
func young() Scene {
	l := calmLoad()
	l.direct = func(s float64) float64 { return ramp(s, -20, -17) * 22000 * (1 + 0.4*noise(s, 41)) }
	s := base("started forty seconds ago", host(end(), 40*time.Second, l))
	f := reclaimFinding(model.Confirmed)
	f.Started = end().Add(-18 * time.Second)
	s = only(s, f)
	at := f.Started.Add(-4 * time.Second)
	s.Events = []model.Event{{
		From: at, To: at, Kind: model.EventSetting, Source: "settings", Text: "sysctl.vm.watermark_scale_factor: 200 -> 10",
		Attrs: map[string]string{"key": "sysctl.vm.watermark_scale_factor", "old": "200", "new": "10"},
	}}
	s.Self.Started = end().Add(-40 * time.Second)
	return s
}

// newborn is a recorder that was started twenty seconds ago on a calm host.
func newborn() Scene {
	s := base("started twenty seconds ago, nothing is wrong", host(end(), 20*time.Second, calmLoad()))
	s.Self.Started = end().Add(-20 * time.Second)
	return s
}

func none(float64) float64 { return 0 }

func likely() Scene {
	s := reclaiming("likely: no witness, stacks may not be read")
	f := reclaimFinding(model.Likely)
	f.Evidence[2].State, f.Evidence[2].Value, f.Evidence[2].Detail = model.EvidenceUnmeasured, nil, "thread stacks may not be read (CAP_SYS_ADMIN)"
	return only(s, f)
}

func possible() Scene {
	s := reclaiming("possible: no confirmation could be measured")
	f := reclaimFinding(model.Possible)
	for i := range f.Evidence {
		f.Evidence[i].State, f.Evidence[i].Value = model.EvidenceUnmeasured, nil
	}
	f.Remedy = nil
	return only(s, f)
}

func reclaiming(about string) Scene {
	calm := calmLoad()
	calm.direct = func(s float64) float64 { return ramp(s, -40, -34) * 22000 * (1 + 0.4*noise(s, 41)) }
	return base(about, host(end(), span, calm))
}

func resolved() Scene {
	calm := calmLoad()
	calm.direct = func(s float64) float64 {
		return ramp(s, -600, -596) * (1 - ramp(s, -430, -425)) * 18000 * (1 + 0.4*noise(s, 42))
	}
	s := base("a stall that has ended", host(end(), span, calm))
	f := reclaimFinding(model.Confirmed)
	ended := end().Add(-428 * time.Second)
	f.Started, f.Ended, f.State = end().Add(-598*time.Second), &ended, model.StateResolved
	f.RuledOut = ruledOut()
	return only(s, f)
}

func warning() Scene {
	s := base("a warning alone", host(end(), span, calmLoad()))
	f := simple("f-churn", "writeback-churn", "The same pages are written again and again", model.LayerCause, end().Add(-75*time.Second), "Pages written for each page dirtied", 7.4, "ratio", 3)
	return only(s, f)
}

func calmLoad() load {
	return load{
		psi: true, direct: none, blocked: none,
		dirty:   func(s float64) float64 { return 900*mib + 260*mib*noise(s/40, 51) + 60*mib*noise(s, 52) },
		freerun: func(float64) float64 { return 2.2 * gib },
		busy:    func(s float64) float64 { return 0.05 + 0.05*max(0, noise(s/5, 53)) },
	}
}

// Calm is a host on which nothing is wrong.
func Calm() Scene { return base("nothing is wrong", host(end(), span, calmLoad())) }

// nearing is a calm host whose dirty pages will meet the limit in a minute.
func nearing() Scene {
	l := calmLoad()
	l.dirty = func(s float64) float64 { return 0.7*gib + ramp(s, -120, 80)*1.95*gib + 20*mib*noise(s, 52) }
	return base("nothing is wrong, a cliff is near", host(end(), span, l))
}

func calmUnknown() Scene {
	s := base("nothing is wrong, a minor signature is unknown", host(end(), span, calmLoad()))
	s.Report.Unknown = []model.Unknown{journalUnknown()}
	s.Report.NotApplicable = []model.NotApplicable{
		{Signature: "cfs-throttling", Title: "The CPU quota is used up", Layer: model.LayerCause, Severity: model.SeverityCritical, Why: "no broker has a CPU quota"},
		{Signature: "gc-stop-the-world", Title: "The collector stops the broker", Layer: model.LayerCause, Severity: model.SeverityCritical, Why: "no JVM is watched", Mend: "name a process to watch"},
	}
	for _, n := range s.Report.NotApplicable {
		s.Report.RuledOut = slices.DeleteFunc(s.Report.RuledOut, func(r model.RuledOut) bool { return r.Signature == n.Signature })
	}
	return s
}

func unknownOnly() Scene {
	l := calmLoad()
	l.psi = false
	s := base("causes could not be checked", host(end(), span, l))
	s.Report.RuledOut = s.Report.RuledOut[:3]
	s.Report.Coverage[4] = model.Coverage{
		Source: "pressure", State: model.SourceAbsent, Detail: "the kernel was booted with psi=0", Mend: "boot with psi=1",
		Provides: []string{"node_pressure_"}, Since: end().Add(-time.Hour),
	}
	for _, sig := range catalogue()[3:] {
		s.Report.Unknown = append(s.Report.Unknown, model.Unknown{
			Signature: sig.ID, Title: sig.Title, Layer: sig.Layer, Severity: sig.Severity,
			Why: "pressure figures are missing: the kernel was booted with psi=0", Mend: "boot with psi=1",
		})
	}
	return s
}

func noData() Scene {
	s := base("just started: no sample yet", NewData(end(), span, time.Second))
	s.Report = model.Report{}
	for _, sig := range s.Catalog {
		s.Report.Unknown = append(s.Report.Unknown, model.Unknown{Signature: sig.ID, Title: sig.Title, Layer: sig.Layer, Severity: sig.Severity, Why: "no sample yet"})
	}
	return s
}

func denied() Scene {
	s := base("unprivileged: sources denied, absent, failed", host(end(), span, calmLoad()))
	s.Report.Coverage = []model.Coverage{
		{Source: "vmstat", State: model.SourceOK, Since: end().Add(-time.Hour)},
		{Source: "pressure", State: model.SourceAbsent, Detail: "the kernel was booted with psi=0", Mend: "boot with psi=1", Since: end().Add(-time.Hour)},
		{Source: "threads", State: model.SourceDenied, Detail: "stacks of other users' threads may not be read", Mend: "run with CAP_SYS_PTRACE and CAP_SYS_ADMIN, or as the broker's user", Since: end().Add(-time.Hour)},
		{Source: "filesystem", State: model.SourceFailed, Detail: "no answer since 03:11:02.120", Mend: "the read hangs in the kernel: see which task or device it waits for", Since: end().Add(-3 * time.Minute)},
		{Source: "zoneinfo", State: model.SourcePartial, Detail: "zone Movable has no watermarks", Since: end().Add(-time.Hour)},
	}
	s.Report.Unknown = []model.Unknown{journalUnknown()}
	return s
}

func storeDown() Scene {
	s := base("the store's process is down, memory still serves", host(end(), span, calmLoad()))
	s.Self.Storage.Up, s.Self.Storage.Detail = false, "the writer exited 12 s ago: signal: killed; next start in 4 s"
	s.Self.Storage.BadBlocks = []string{"block 2026-02-27T10:04:00Z: checksum does not match, skipped"}
	s.Self.RuleProblems = []string{"rules/local.yaml:7:3: needs: want a list"}
	return s
}

func storeFails() Scene {
	s := base("nothing can be read: an error page", host(end(), span, calmLoad()))
	s.Fail = errStore
	return s
}

// manyDisks is a storage server.
func manyDisks() Scene {
	l := calmLoad()
	l.disks = 1195
	return base("1,200 disks", host(end(), time.Minute, l))
}

func twoIncidents() Scene {
	s := Stalling()
	s.About = "a stall, and an earlier one of another cause"
	f := reclaimFinding(model.Likely)
	ended := end().Add(-9 * time.Minute)
	f.Started, f.Ended, f.State = ended.Add(-40*time.Second), &ended, model.StateResolved
	s.Report.Findings = append(s.Report.Findings, f)
	s.Report.Incidents = append(s.Report.Incidents, model.Incident{Root: f.ID, Findings: []string{f.ID}, Started: f.Started, Ended: f.Ended})
	return s
}

// Hostile is text that tries to break out of the page.
const Hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)> ' onmouseover='alert(3) javascript:alert(4) {{.}} ` + "\u202egnp.exe\u202c \x1b[31m \x00"

func hostile() Scene {
	s := Stalling()
	s.About = "hostile text in every field"
	for i := range s.Report.Findings {
		f := &s.Report.Findings[i]
		f.Title, f.What, f.Caveat = Hostile, Hostile+"\n\n"+Hostile, Hostile
		f.Subject = map[string]string{"device": Hostile, Hostile: "x"}
		for k := range f.Evidence {
			f.Evidence[k].Title, f.Evidence[k].Detail = Hostile, Hostile
		}
		for k := range f.Remedy {
			f.Remedy[k] = model.Remedy{Title: Hostile, Kind: model.RemedyNow, Why: Hostile, Current: Hostile, Apply: Hostile, Persist: Hostile, Rollback: Hostile, Verify: Hostile, Risk: Hostile}
		}
		f.RuledOut = []model.RuledOut{{Signature: Hostile, Title: Hostile, Why: Hostile}}
	}
	s.Report.RuledOut = []model.RuledOut{{Signature: Hostile, Title: Hostile, Why: Hostile}}
	s.Report.Unknown = []model.Unknown{{Signature: Hostile, Title: Hostile, Why: Hostile, Mend: Hostile}}
	s.Report.NotApplicable = []model.NotApplicable{{Signature: Hostile, Title: Hostile, Why: Hostile, Mend: Hostile}}
	s.Report.Coverage = []model.Coverage{{Source: Hostile, State: model.SourceFailed, Detail: Hostile, Mend: Hostile}, {Source: "x", State: Hostile}}
	for i := range s.Events {
		s.Events[i].Text = Hostile
	}
	s.Facts["host.name"] = model.Fact{Key: "host.name", Value: Hostile}
	s.Audit = []audit.Result{{
		ID: Hostile, Title: Hostile, Area: audit.Kernel, State: audit.Warn, Subject: map[string]string{Hostile: Hostile}, Current: Hostile, Says: Hostile, Mend: Hostile,
		Advice: &audit.Advice{Change: Hostile, Command: Hostile, Persist: Hostile, Rollback: Hostile, Risk: Hostile}, Why: Hostile, Source: Hostile,
	}, {ID: Hostile, Title: Hostile, Area: audit.JVM, State: audit.OK, Current: Hostile, Says: Hostile}}
	s.Self.RulesVersion, s.Self.RuleProblems = Hostile, []string{Hostile}
	s.Self.Storage.Detail, s.Self.Storage.Path, s.Self.Storage.BadBlocks = Hostile, Hostile, []string{Hostile}
	for _, age := range []string{"active", "old", Hostile} {
		f := segmentFile(Hostile, 1, Hostile, Hostile+"/"+Hostile, Hostile, age, gib, func(float64) float64 { return 0.5 })
		s.Files = append(s.Files, f)
	}
	s.Events = append(s.Events, model.Event{From: end(), To: end(), Kind: model.EventFiles, Text: Hostile})
	hostileLogs(&s)
	disk := strings.ToValidUTF8(Hostile, "")
	s.Data.Always(1, "stallmark_disk_info", "device", disk, "kind", disk, "backing", disk, "mount", disk)
	for _, c := range []string{"reads_completed", "writes_completed", "written_bytes", "read_bytes", "write_time_seconds", "read_time_seconds", "io_time_weighted_seconds", "io_time_seconds"} {
		s.Data.Counter(func(float64) float64 { return 100 }, "node_disk_"+c+"_total", "device", disk)
	}
	s.Data.Always(3, "stallmark_blocked_threads", "process", disk, "pid", "1", "wait", disk)
	s.Data.Always(9, "stallmark_process_open_fds", "process", disk, "pid", "1")
	s.Data.Always(10, "stallmark_process_max_fds", "process", disk, "pid", "1")
	for i := range s.Catalog {
		c := *s.Catalog[i]
		c.Title, c.What, c.File, c.References = Hostile, Hostile, Hostile, []string{Hostile, "javascript:alert(5)"}
		s.Catalog[i] = &c
	}
	return s
}

// only makes a report of a single finding.
func only(s Scene, f model.Finding) Scene {
	s.Report.Findings = []model.Finding{f}
	s.Report.Incidents = []model.Incident{{Root: f.ID, Findings: []string{f.ID}, Started: f.Started, Ended: f.Ended}}
	for i, r := range s.Report.RuledOut {
		if r.Signature == f.Signature {
			s.Report.RuledOut = append(s.Report.RuledOut[:i:i], s.Report.RuledOut[i+1:]...)
			break
		}
	}
	return s
}

func explaining(f model.Finding, what ...string) model.Finding {
	f.Explains = what
	return f
}

func settingEvents() []model.Event {
	at := end().Add(-345 * time.Second)
	return []model.Event{
		{From: at, To: at, Kind: model.EventSetting, Source: "settings", Text: "vm.dirty_ratio 20 → 50", Attrs: map[string]string{"key": "sysctl.vm.dirty_ratio"}},
		{From: at, To: at, Kind: model.EventSetting, Source: "settings", Text: "vm.dirty_background_ratio 10 → 50", Attrs: map[string]string{"key": "sysctl.vm.dirty_background_ratio"}},
	}
}

func blockedEvents(from, to time.Time, wait, function string) []model.Event {
	var out []model.Event
	for i, t := 0, from.Add(time.Second); t.Before(to); i, t = i+1, t.Add(time.Duration(3+i%5)*time.Second) {
		thread := fmt.Sprintf("SendMessageThread_%d", 1+i%4)
		out = append(out, model.Event{
			From: t, To: t, Kind: model.EventBlocked, Source: "threads", Text: thread + " waits in " + function,
			Attrs: map[string]string{"process": "rocketmq-broker", "pid": "4242", "thread": thread, "wait": wait, "function": function},
		})
	}
	return out
}
