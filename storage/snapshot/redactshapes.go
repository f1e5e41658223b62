package snapshot

import (
	"net/netip"
	"regexp"
	"strings"
)

// Patterns of what gives itself away by its shape.
var (
	jdbc      = regexp.MustCompile(`(?i)\bjdbc:[^\s"'<>,;)]+`)
	authority = regexp.MustCompile(`(?i)\b((?:https?|tcp|ssl|tls|ftp|sftp|ssh|amqp|redis|mysql|postgres(?:ql)?|mongodb|kafka|rocketmq|plaintext|sasl_[a-z]+|ldaps?|nfs|file|s3|hdfs|zk)://)([^\s/"'<>,;)?#]+)`)
	mail      = regexp.MustCompile(`(?i)[\pL\pN._%+#-]+(?:@|%40|&#64;|&commat;|\\u0040)[\pL\pN._%#-]+`)
	uuid      = regexp.MustCompile(`(?i)[0-9a-f]{8}([-_])[0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}`)
	hexRun    = regexp.MustCompile(`(?i)(?:0x)?[0-9a-f]{20,}`)
	mac       = regexp.MustCompile(`(?i)\b(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}\b`)
	colons    = regexp.MustCompile(`(?i)[0-9a-f.]*(?:(?::|%3a)[0-9a-f.]*){2,}(?:%[a-z0-9]+)?`)
	ipv4      = regexp.MustCompile(`[0-9]{1,3}(?:\.[0-9]{1,3}){3}`)
	dashed4   = regexp.MustCompile(`(?i)(?:ip[-_])?[0-9]{1,3}([-_])[0-9]{1,3}[-_][0-9]{1,3}[-_][0-9]{1,3}`)
	hex4      = regexp.MustCompile(`(?i)\b(?:0x)?[0-9a-f]{8}0000[0-9a-f]{4}\b`) // store host: an address and a port
	dotted    = regexp.MustCompile(`(?i)[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?)+`)
	hostPort  = regexp.MustCompile(`(?i)(?:^|[\s=,;(\["'@])([a-z][a-z0-9_-]*[0-9-][a-z0-9_-]*):[0-9]{2,5}\b`)
	podName   = regexp.MustCompile(`\b[a-z][a-z0-9-]*-[0-9a-f]{8,10}-[a-z0-9]{5}\b`)
	homeUser  = regexp.MustCompile(`(?i)((?:[/\\]|%2f|%5c)+(?:home|users)(?:[/\\]|%2f|%5c)+)([^\s/\\"':,;)%]+)`)
	consumers = regexp.MustCompile(`(\bConsumeMessage\w*?Thread_)([^\s|"'<>,;()\[\]]+?)(_[0-9]+\b)`)
	clients   = regexp.MustCompile(`(\bkafka-[a-z-]*thread \| )([^\s|"'<>,;()\[\]]+)`)
	volume    = regexp.MustCompile(`(\bmapper/)([^\s|"'<>,;()\[\]/]+)`)
	authorize = regexp.MustCompile(`(?i)(\bauthorization["'\\]*\s*[:=]\s*["'\\]*(?:[a-z]+\s+)?|\bbearer\s+)([\w.~+/=-]{6,})`)
	sshUser   = regexp.MustCompile(`\b(for (?:invalid user )?)([\w.-]+)( from )`)
	uidUser   = regexp.MustCompile(`\b((?:uid|gid)=[0-9]+\()([^)\s]+)`)
	unixPath  = regexp.MustCompile(`(?:/[\pL\pN._@+~%=:-]+)+/?`)
	winPath   = regexp.MustCompile(`(?i)\b[a-z]:\\+[^\s"'<>|,;)]*|\\\\[\w.-]+\\[^\s"'<>|,;)]*`)
)

// worn are names that stand behind words that tell what they are. The hint is in
// every text that matches.
var worn = []worded{
	{"Thread_", "group", consumers},
	{"thread | ", "client", clients},
	{"mapper/", "volume", volume},
	{"earer", "secret", authorize},
	{"uthorization", "secret", authorize},
}

type worded struct {
	hint, kind string
	pattern    *regexp.Regexp
}

func (w worded) in(s string) bool { return strings.Contains(s, w.hint) }

// shapes replaces what gives itself away by its shape.
func (r *redactor) shapes(s string) string {
	has := func(chars string) bool { return strings.ContainsAny(s, chars) }
	if has(":") {
		s = jdbc.ReplaceAllStringFunc(s, func(m string) string { return r.mark("address", m) })
		s = authority.ReplaceAllStringFunc(s, r.authority)
	}
	for _, w := range worn {
		if w.in(s) {
			s = w.pattern.ReplaceAllStringFunc(s, func(m string) string { return r.second(w.pattern, w.kind, m) })
		}
	}
	if has("=:") {
		s = r.fieldsOf(s)
		s = uidUser.ReplaceAllStringFunc(s, func(m string) string { return r.second(uidUser, "user", m) })
	}
	if has("@%&\\") {
		s = mail.ReplaceAllStringFunc(s, func(m string) string { return r.mark("user", m) })
		s = retry.ReplaceAllStringFunc(s, r.retryTopic)
	}
	s = r.numbersOf(s)
	if has(".") {
		s = dotted.ReplaceAllStringFunc(s, r.host)
	}
	if has(":") {
		s = hostPort.ReplaceAllStringFunc(s, r.hostAndPort)
	}
	if has("-") {
		s = podName.ReplaceAllStringFunc(s, func(m string) string { return r.mark("pod", m) })
	}
	if has(" ") {
		s = sshUser.ReplaceAllStringFunc(s, func(m string) string { return r.second(sshUser, "user", m) })
	}
	if has(`/\%`) {
		s = homeUser.ReplaceAllStringFunc(s, func(m string) string { return r.second(homeUser, "user", m) })
		if r.choice.Paths {
			s = winPath.ReplaceAllStringFunc(s, func(m string) string { return r.mark("path", m) })
			s = unixPath.ReplaceAllStringFunc(s, r.path)
		}
	}
	return s
}

// numbersOf replaces addresses and ids, which are made of digits.
func (r *redactor) numbersOf(s string) string {
	if !strings.ContainsAny(s, "0123456789:") {
		return s
	}
	s = uuid.ReplaceAllStringFunc(s, func(m string) string { return r.mark("message", m) })
	s = hexRun.ReplaceAllStringFunc(s, func(m string) string { return r.mark("message", m) })
	s = hex4.ReplaceAllStringFunc(s, func(m string) string { return r.mark("address", m) })
	if strings.ContainsAny(s, ":%") {
		s = mac.ReplaceAllStringFunc(s, func(m string) string { return r.mark("address", m) })
		s = r.between(colons, s, r.sixes)
	}
	s = r.between(ipv4, s, r.address)
	return r.between(dashed4, s, r.dashed)
}

// between replaces matches that no digit stands beside.
func (r *redactor) between(p *regexp.Regexp, s string, replace func(string) string) string {
	var b strings.Builder
	done := 0
	for _, m := range p.FindAllStringIndex(s, -1) {
		if m[0] > 0 && (digit(s[m[0]-1]) || s[m[0]-1] == '.') || m[1] < len(s) && digit(s[m[1]]) {
			continue
		}
		b.WriteString(s[done:m[0]])
		b.WriteString(replace(s[m[0]:m[1]]))
		done = m[1]
	}
	if done == 0 {
		return s
	}
	return b.String() + s[done:]
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// everywhere reports whether every host has this address.
func everywhere(a netip.Addr) bool { return a.IsLoopback() || a.IsUnspecified() }

// address replaces an address, but for those that every host has.
func (r *redactor) address(m string) string {
	a, err := netip.ParseAddr(m)
	if err != nil || everywhere(a) {
		return m
	}
	return r.mark("address", m)
}

func (r *redactor) dashed(m string) string {
	bare := strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(m), "ip-"), "ip_")
	a, err := netip.ParseAddr(strings.NewReplacer("-", ".", "_", ".").Replace(bare))
	if err != nil || everywhere(a) {
		return m
	}
	return r.mark("address", m)
}

// maxColons is how many groups of digits between colons are looked at for an
// address of version 6, which has eight.
const maxColons = 12

// sixes replaces an address of version 6 in a run of groups between colons: what
// stands before it may be a field's name, what stands after it a port.
func (r *redactor) sixes(m string) string {
	plain := strings.NewReplacer("%3A", ":", "%3a", ":").Replace(m)
	cuts := []int{0}
	for i := range len(plain) {
		if plain[i] == ':' {
			cuts = append(cuts, i, i+1)
		}
	}
	cuts = append(cuts, len(plain))
	if len(cuts) > 2*maxColons+2 {
		return r.mark("address", m)
	}
	for from := range cuts {
		for to := len(cuts) - 1; to > from; to-- {
			a, err := netip.ParseAddr(plain[cuts[from]:cuts[to]])
			if err != nil || everywhere(a) || !a.Is6() {
				continue
			}
			return plain[:cuts[from]] + r.mark("address", plain[cuts[from]:cuts[to]]) + plain[cuts[to]:]
		}
	}
	return m
}

// second replaces what a pattern's second group matches.
func (r *redactor) second(p *regexp.Regexp, kind, m string) string {
	g := p.FindStringSubmatch(m)
	if marked(g[2]) || harmless[strings.ToLower(g[2])] {
		return m
	}
	return g[1] + r.mark(kind, g[2]) + strings.Join(g[3:], "")
}

// authority replaces the host in an address of the web. The rule pack's own
// references stay.
func (r *redactor) authority(m string) string {
	g := authority.FindStringSubmatch(m)
	host := g[2]
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	bare, _, _ := strings.Cut(host, ":")
	if marked(g[2]) || harmless[strings.ToLower(bare)] && host == g[2] || references[strings.ToLower(bare)] {
		return m
	}
	if a, err := netip.ParseAddr(bare); err == nil && everywhere(a) && host == g[2] {
		return m
	}
	return g[1] + r.mark("host", g[2])
}

// references are where the rule pack's advice leads.
var references = map[string]bool{
	"docs.kernel.org": true, "www.kernel.org": true, "kernel.org": true, "github.com": true, "lwn.net": true, "rocketmq.apache.org": true,
	"kafka.apache.org": true, "issues.apache.org": true, "bugs.openjdk.org": true, "openjdk.org": true, "man7.org": true, "git.kernel.org": true,
}

func (r *redactor) retryTopic(m string) string {
	g := retry.FindStringSubmatch(m)
	return strings.TrimSuffix(m, g[1]) + r.mark("group", g[1])
}

// hostEnds are the last words of host names.
const hostEnds = " com net org io cn de uk fr jp in local lan internal intra intranet corp cloud svc example test home dev tech co biz info " +
	"eu us kr tw hk sg br ru nl se pl ch at au ca prod stage staging localdomain consul cluster private arpa gov edu "

// packages begin the names of classes, which end like host names now and then.
var packages = []string{"java.", "javax.", "jdk.", "sun.", "com.sun.", "org.apache.", "io.netty.", "kafka.", "scala.", "net.core.", "net.ipv4."}

// host replaces the name of a host.
func (r *redactor) host(m string) string {
	l := strings.ToLower(m)
	if !strings.Contains(hostEnds, " "+l[strings.LastIndexByte(l, '.')+1:]+" ") || references[l] {
		return m
	}
	for _, p := range packages {
		if strings.HasPrefix(l, p) {
			return m
		}
	}
	return r.mark("host", m)
}

func (r *redactor) hostAndPort(m string) string {
	name := hostPort.FindStringSubmatch(m)[1]
	return strings.Replace(m, name, r.mark("host", name), 1)
}

// systemPaths begin paths that tell nothing of a house.
var systemPaths = []string{"/proc/", "/sys/", "/dev/", "/etc/sysctl", "/usr/", "/bin/", "/sbin/", "/lib/", "/api/"}

func systemPath(path string) bool {
	for _, p := range systemPaths {
		if strings.HasPrefix(path, p) || path+"/" == p {
			return true
		}
	}
	return false
}

func (r *redactor) path(m string) string {
	if systemPath(m) || len(m) < 3 || strings.Trim(m, "/0123456789.") == "" || unitShape.MatchString(m) {
		return m
	}
	return r.mark("path", m)
}

// unitShape is a "per something", as in 12/s or kB/s, and not a path.
var unitShape = regexp.MustCompile(`^/(?:s|sec|second|min|minute|h|hour|day)\b`)
