package logs

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"stallmark/collectors/process"
	"stallmark/storage/model"
)

// Discovery works out where the logs of the watched processes are.
type Discovery struct {
	watched    func() []process.Process
	configured []Target
	next       time.Time
	last       []process.Process
	all        []Target
	quiet      map[process.ID]bool // processes whose own logs were looked for, and are none or silent
}

// NewDiscovery makes one of what is watched and what the user has named.
func NewDiscovery(watched func() []process.Process, configured []Target) *Discovery {
	return &Discovery{watched: watched, configured: configured}
}

// discoverEvery is how often the watched processes are looked at.
const discoverEvery = 2 * time.Second

// beat tells the follower what to follow, if that has changed.
func (d *Discovery) beat(f *Follower, at time.Time) {
	if at.Before(d.next) && d.next.Sub(at) <= discoverEvery {
		return
	}
	d.next = at.Add(discoverEvery)
	procs := d.watched()
	states, _ := f.Status()
	quiet := quietOf(states, at)
	same := d.last != nil && slices.Equal(procs, d.last)
	if same && maps.Equal(quiet, d.quiet) {
		return
	}
	d.quiet = quiet
	if !same {
		d.last = append([]process.Process{}, procs...)
		d.all = slices.Clone(d.configured)
		for _, p := range procs {
			d.all = append(d.all, TargetsOf(p, procs...)...)
		}
	}
	f.SetTargets(slices.DeleteFunc(slices.Clone(d.all), func(t Target) bool { return t.Echo && t.hasOwn && !quiet[t.writer] }))
}

// silentFor is how long a broker's own log can be silent before what it prints is
// read instead: Kafka writes at least once in five minutes, RocketMQ each minute.
const silentFor = time.Hour

// quietOf finds, among processes whose own logs have been looked for, those of
// which none is written to.
func quietOf(states []Status, now time.Time) map[process.ID]bool {
	quiet := map[process.ID]bool{}
	for _, st := range states {
		t := st.Target
		if t.Kind != KindText || t.Echo || t.writer == (process.ID{}) {
			continue
		}
		if _, seen := quiet[t.writer]; !seen {
			quiet[t.writer] = true
		}
		if !st.Changed.IsZero() && now.Sub(st.Changed) < silentFor {
			quiet[t.writer] = false
		}
	}
	return quiet
}

// lacking says which logs of the watched brokers cannot even be looked for.
func (d *Discovery) lacking() []model.Coverage {
	var list []model.Coverage
	for _, p := range d.last {
		product := productOf(p.Role)
		if !slices.Contains([]string{"rocketmq", "kafka", "zookeeper"}, product) {
			continue
		}
		if p.Logs == "" {
			list = append(list, model.Coverage{
				Source: "logs of " + p.Name, State: model.SourceAbsent,
				Detail: "neither its flags nor its user's home folder tell where it writes them", Mend: "name the files with --log",
			})
		}
		if p.GCLog == "" {
			list = append(list, model.Coverage{
				Source: "GC log of " + p.Name, State: model.SourceAbsent, Detail: "the JVM was started without one",
				Mend: "-Xlog:gc*,safepoint:file=FILE:time,uptime,level,tags:filecount=5,filesize=30M (JDK 8: -Xloggc:FILE -XX:+PrintGCDetails " +
					"-XX:+PrintGCDateStamps -XX:+PrintGCApplicationStoppedTime -XX:+UseGCLogFileRotation -XX:NumberOfGCLogFiles=5 -XX:GCLogFileSize=30M)",
			})
		}
	}
	return list
}

// TargetsOf lists where the logs of a process are, by its product's layout; others
// are the watched ones, whose logs are not its.
func TargetsOf(p process.Process, others ...process.Process) []Target {
	var list []Target
	switch {
	case strings.HasPrefix(p.Role, "rocketmq-"):
		list = rocketTargets(p, others)
	case strings.HasPrefix(p.Role, "kafka-"):
		list = kafkaTargets(p)
	case p.Role == "zookeeper":
		list = zooTargets(p)
	}
	list = append(list, gcTargets(p)...)
	for i := range list {
		t := &list[i]
		t.Owner, t.Process, t.Pid, t.Role = p.ID, p.Name, p.Pid, p.Role
		if t.Kind == "" {
			t.Kind = KindText
		}
	}
	list = append(list, containerTargets(p)...)
	own := slices.ContainsFunc(list, func(t Target) bool { return t.Kind == KindText && !t.Echo })
	for i := range list {
		list[i].writer, list[i].hasOwn = p.ID, own
	}
	return list
}

// containerTargets are the files into which a container's runtime writes what a
// broker in it prints: Docker's json-file, and the kubelet's, whose links name the
// container. They are the host's, read with the rights of this program.
func containerTargets(p process.Process) []Target {
	switch productOf(p.Role) {
	case "rocketmq", "kafka", "zookeeper":
	default:
		return nil
	}
	if p.Container == "" {
		return nil
	}
	base := Target{Process: p.Name, Pid: p.Pid, Role: p.Role, Kind: KindText, Echo: true, What: "output of its container"}
	base.Mend = "it is read where the runtime writes files: Docker's driver json-file, or the kubelet; else name it with --log"
	docker, kubelet := base, base
	docker.Folder, docker.Names = "/var/lib/docker/containers/"+p.Container, []string{p.Container + "-json.log"}
	kubelet.Folder, kubelet.Names = "/var/log/containers", []string{"*-" + p.Container + ".log"}
	return []Target{docker, kubelet}
}

// rocketTargets are the folders of RocketMQ: up to 5.0 a log folder of a broker's
// own is below rocketmqlogs, later its name follows without a slash
// (distribution/conf/logback_broker.xml, broker/src/main/resources/rmq.broker.logback.xml).
func rocketTargets(p process.Process, others []process.Process) []Target {
	const mend = "see ${user.home}/logs/rocketmqlogs of the broker's user, or name the files with --log"
	if p.Logs == "" {
		return nil
	}
	names, except := []string{"*.log"}, []string{"namesrv*.log", "tools*.log", "*gc*.log"}
	// A proxy may run inside the broker (mqbroker --enable-proxy) and log beside it.
	if slices.ContainsFunc(others, func(o process.Process) bool { return o.Role == "rocketmq-proxy" && o.Logs == p.Logs }) {
		except = append(except, "proxy*.log")
	}
	what := "broker logs"
	switch p.Role {
	case "rocketmq-namesrv":
		names, except, what = []string{"namesrv*.log"}, nil, "name server logs"
	case "rocketmq-proxy":
		names, except, what = []string{"proxy*.log"}, nil, "proxy logs"
	}
	folders := []string{p.Logs}
	if own := p.LogDir; own != "" {
		folders = append(folders, path.Join(p.Logs, own), p.Logs+own)
	}
	var list []Target
	for _, f := range folders {
		list = append(list, Target{Folder: f, Names: names, Except: except, What: what, Mend: mend})
	}
	return list
}

// kafkaTargets is Kafka's folder (config/log4j.properties, log4j2.yaml).
func kafkaTargets(p process.Process) []Target {
	if p.Logs == "" {
		return nil
	}
	const mend = "where it logs to its standard output only, name that file with --log"
	return []Target{
		{Folder: p.Logs, Names: []string{"*.log"}, Except: []string{"*gc*.log", "zookeeper*.log"}, What: "broker logs", Mend: mend},
		{Folder: p.Logs, Names: []string{"kafkaServer*.out"}, Echo: true, What: "standard output", Mend: mend},
	}
}

func zooTargets(p process.Process) []Target {
	if p.Logs == "" {
		return nil
	}
	return []Target{{
		Folder: p.Logs, Names: []string{"zookeeper*.log", "zookeeper*.out", "server.log"}, Except: []string{"*gc*.log"}, What: "ZooKeeper logs",
		Mend: "name the files with --log",
	}}
}

// gcTargets is the GC log of the JVM's flags. %p is the process's number in its
// own namespace, with "pid" before it up to JDK 8; %t is when it started; %h is
// the host.
func gcTargets(p process.Process) []Target {
	if p.GCLog == "" {
		return nil
	}
	folder, name := path.Split(p.GCLog)
	own := p.NSPid
	if own == 0 {
		own = p.Pid
	}
	var names []string
	for _, pid := range []string{strconv.Itoa(own), "pid" + strconv.Itoa(own)} {
		n := strings.NewReplacer("%p", pid, "%t", "*", "%h", "*", "%%", "%").Replace(escapeGlob(name))
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return []Target{{
		Folder: path.Clean(folder), Names: names, Kind: KindGC, What: "GC log",
		Mend: "the JVM's flags name this file: see whether its folder may be written to, and has room (/dev/shm is lost at a reboot)",
	}}
}

// escapeGlob makes a name that is no pattern safe to be used as one.
func escapeGlob(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}
