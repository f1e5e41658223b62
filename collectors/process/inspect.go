package process

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"stallmark/collectors"
)

// inspector takes one process's command line and configuration apart. It runs
// apart from the discovery's beat, since the reads may hang: it shares nothing
// with it.
type inspector struct {
	files    Files
	watch    []string
	recorded map[string]string // facts by key, in replay
}

// maxConfig is the largest configuration file that is read.
const maxConfig = 256 << 10

// inspected is what an inspection found.
type inspected struct {
	id      ID
	comm    string
	proc    *watched // nil if it is none to watch
	cmdline bool     // there was one to read
	threads bool     // its threads can be listed
}

// inspect looks at a process whose stat has been read.
func (in *inspector) inspect(root collectors.Root, id ID, comm string) inspected {
	w := newWatched(id)
	w.comm = cleanName(comm)
	cmdline, err := root.Read(w.dir+"cmdline", nil)
	found := inspected{id: id, comm: comm, cmdline: err == nil}
	if !found.cmdline {
		_, err := root.ReadDir(w.dir + "task")
		found.threads = err == nil
	}
	if err != nil && !in.wanted(w, command{}) {
		return found
	}
	c := parseCommand(comm, cmdline)
	if c.java && !in.runsJVM(root, w) {
		c = command{program: c.program} // dressed as one
	}
	if w.role = recognise(c); w.role == "" {
		if !in.wanted(w, c) {
			return found
		}
		w.role = roleOther
		if c.java {
			w.role = roleJVM
		}
	}
	found.proc = w
	w.config = in.describe(root, w, c)
	return found
}

// runsJVM checks the executable, which a process cannot forge as it can its
// command line. Where it may not be seen the command line is believed; then
// its files cannot be opened either.
func (in *inspector) runsJVM(root collectors.Root, w *watched) bool {
	exe, err := root.ReadLink(w.dir + "exe")
	return err != nil || isJVM(executableName(exe))
}

// wanted reports whether the user named the process.
func (in *inspector) wanted(w *watched, c command) bool {
	return slices.ContainsFunc(in.watch, func(name string) bool {
		return name != "" && (name == w.pid || name == w.comm || name == c.program)
	})
}

// describe gathers the facts. It returns why the configuration is not known.
func (in *inspector) describe(root collectors.Root, w *watched, c command) string {
	cwd, _ := root.ReadLink(w.dir + "cwd")
	keys, file, problem := in.configuration(w, c, cwd)
	if w.role == roleKafkaBroker && onlyController(keys, file) {
		w.role = roleKafkaController
	}
	p := places{c: c, keys: keys, cwd: cwd, known: problem == "", home: func() string { return in.home(root, w, c) }}
	if store := firstOf(in.recorded[w.factPrefix()+"store"], p.store(w.role)); kindPath.fits(store) {
		w.store = store
	}
	w.facts = append(w.facts, fact{"comm", w.comm})
	w.version = versionOfJar(roles[w.role].jars, c.classPath+":"+c.property("java.ext.dirs")+":"+c.property("rocketmq.home.dir"))
	w.logs, w.logDir = fitting(p.logs(w.role)), p.logDir()
	w.gcLog, w.nsPid = fitting(absolute(gcLogOf(c.options), cwd)), nsPid(root, w)
	w.box = boxOf(root, w)
	for _, f := range []fact{
		{"config", file},
		{"logs", w.logs},
		{"gc_log", w.gcLog},
	} {
		if kindPath.fits(f.value) {
			w.facts = append(w.facts, f)
		}
	}
	w.facts = append(w.facts, sieveFlags(c.options)...)
	for key, value := range keys {
		w.facts = append(w.facts, fact{"config." + key, value})
	}
	for i := range w.facts {
		w.facts[i].key = w.factPrefix() + w.facts[i].key
	}
	return problem
}

// fitting is a path, or nothing if it does not look like one.
func fitting(p string) string {
	if kindPath.fits(p) {
		return p
	}
	return ""
}

// nsPid is the process's number in the innermost pid namespace that it is in
// (NSpid of /proc/PID/status, Linux 4.1).
func nsPid(root collectors.Root, w *watched) int {
	status, err := root.Read(w.dir+"status", nil)
	if err != nil {
		return 0
	}
	pid := 0
	eachLine(status, func(key, rest []byte) {
		if ids := parseIDs(rest); string(key) == "NSpid" && len(ids) > 0 {
			pid = int(ids[len(ids)-1])
		}
	})
	return pid
}

// configuration reads the allow-listed keys of the process's file.
func (in *inspector) configuration(w *watched, c command, cwd string) (keys map[string]string, file, problem string) {
	role := roles[w.role]
	keys = map[string]string{}
	if role.config == nil {
		return keys, "", ""
	}
	keep := func(key, value string) {
		if kind, ok := role.keys[key]; ok && kind.fits(value) {
			keys[key] = value
		}
	}
	file = absolute(role.config(c), cwd)
	if file == "" && role.config(c) != "" || !kindPath.fits(file) && file != "" {
		return keys, "", "its path cannot be told"
	}
	if file != "" && in.files != nil {
		text, err := in.files.ReadFile(w.ID, file, maxConfig)
		if err != nil {
			problem = err.Error()
		} else if strings.HasSuffix(file, ".json") {
			parseJSONConfig(string(text), keep)
		} else {
			parseProperties(string(text), keep)
		}
	} else if file != "" {
		problem = "not in the recording"
		for key := range role.keys {
			keep(key, in.recorded[w.factPrefix()+"config."+key])
		}
	}
	overrides(c, keep)
	return keys, file, problem
}

// overrides are Kafka's "--override key=value" after the file.
func overrides(c command, keep func(key, value string)) {
	for i, a := range c.args {
		if a == "--override" && i+1 < len(c.args) {
			key, value, _ := strings.Cut(c.args[i+1], "=")
			keep(key, value)
		}
	}
}

// onlyController tells a KRaft controller from a broker, by the file's name if
// its text is not known.
func onlyController(keys map[string]string, file string) bool {
	if has := keys["process.roles"]; has != "" {
		return has == "controller"
	}
	return len(keys) == 0 && path.Base(file) == "controller.properties"
}

// home is the JVM's user.home: the home folder of the process's user in its own
// /etc/passwd.
func (in *inspector) home(root collectors.Root, w *watched, c command) string {
	if h := c.property("user.home"); kindPath.fits(h) {
		return h
	}
	status, err := root.Read(w.dir+"status", nil)
	if err != nil || in.files == nil {
		return ""
	}
	who, err := parseCredentials(status)
	if err != nil {
		return ""
	}
	passwd, err := in.files.ReadFile(w.ID, "/etc/passwd", maxConfig)
	if err != nil {
		return ""
	}
	uid := strconv.FormatUint(uint64(who.uid), 10)
	for line := range strings.Lines(string(passwd)) {
		if f := strings.Split(strings.TrimSpace(line), ":"); len(f) >= 6 && f[2] == uid && kindPath.fits(f[5]) {
			return f[5]
		}
	}
	return ""
}
