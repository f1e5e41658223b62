package snapshot

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"stallmark/storage/model"
)

// Choice says what is replaced when a snapshot is redacted, besides addresses,
// host names, users, topics, groups and message keys, which always are.
type Choice struct {
	Paths bool     // of files and mount points
	Words []string // more words to replace, whatever they are
}

// Replaced is one text that was replaced, for the preview: it is never part of
// the redacted snapshot.
type Replaced struct {
	Kind  string `json:"kind"`
	From  string `json:"from"`
	To    string `json:"to"`
	Times int    `json:"times"`
}

// Redact makes the redacted twin of a snapshot. The same text becomes the same
// pseudonym everywhere in it. Pseudonyms are numbered in the order in which the
// texts first appear and tell nothing about them: a hash could be guessed.
func Redact(s *Snapshot, id string, c Choice) (*Snapshot, []Replaced, error) {
	r := &redactor{choice: c, known: map[string]*Replaced{}, numbers: map[string]int{}}
	r.learn(s)
	out := &Snapshot{}
	if err := r.copyJSON(s, out); err != nil {
		return nil, nil, err
	}
	out.Meta.Redacted, out.Meta.Parent = true, id
	out.Meta.Host = r.text(s.Meta.Host)
	for _, one := range s.Samples {
		out.Samples = append(out.Samples, r.series(one))
	}
	for _, l := range s.Lines {
		line := Line{Expr: r.quoted(l.Expr)}
		for _, one := range l.Series {
			line.Series = append(line.Series, r.series(one))
		}
		out.Lines = append(out.Lines, line)
	}
	return out, r.list(), nil
}

// redactor replaces texts.
type redactor struct {
	choice  Choice
	known   map[string]*Replaced // by what is replaced
	numbers map[string]int       // last number of each kind
	words   *regexp.Regexp       // the names that were learned
	short   *regexp.Regexp       // those that are replaced as whole words only
}

// pseudonym is the text that stands for another of a kind.
func (r *redactor) pseudonym(kind, from string) string {
	if k, ok := r.known[from]; ok {
		k.Times++
		return k.To
	}
	r.numbers[kind]++
	k := &Replaced{Kind: kind, From: from, To: kind + "-" + strconv.Itoa(r.numbers[kind]), Times: 1}
	r.known[from] = k
	return k.To
}

// named are the attributes of events and the labels of series whose values are
// names of a kind.
var named = map[string]string{
	"topic": "topic", "group": "group", "consumergroup": "group", "consumer_group": "group", "producergroup": "group",
	"host": "host", "hostname": "host", "broker": "host", "brokername": "host", "instance": "host", "node_name": "host",
	"user": "user", "username": "user", "uid": "user", "client": "client", "clientid": "client", "client_id": "client",
	"key": "key", "keys": "key", "msgid": "message", "messageid": "message", "msg_id": "message", "offsetmsgid": "message", "uniqkey": "message",
	"address": "address", "addr": "address", "remote": "address", "ip": "address", "follower": "host", "queue": "",
}

// kindOf is the kind of the values under a name, empty for none. "key" of a
// setting is the setting's own name and not a message's.
func kindOf(name string, event *model.Event) string {
	if event != nil && event.Kind == model.EventSetting {
		return ""
	}
	return named[strings.ToLower(name)]
}

// learn collects the names that stand in fields of their own, so that they are
// found in texts as well.
func (r *redactor) learn(s *Snapshot) {
	names := map[string]string{}
	add := func(kind, value string) {
		value = strings.TrimSpace(value)
		if kind != "" && len(value) >= 2 && strings.Trim(value, "0123456789.-") != "" {
			names[value] = kind
		}
	}
	add("host", s.Meta.Host)
	if short, _, ok := strings.Cut(s.Meta.Host, "."); ok {
		add("host", short)
	}
	for i := range s.Events {
		for name, value := range s.Events[i].Attrs {
			add(kindOf(name, &s.Events[i]), value)
		}
	}
	for _, f := range s.Facts {
		if f.Key == "host.name" {
			add("host", f.Value)
		}
		if key := f.Key[strings.LastIndexByte(f.Key, '.')+1:]; strings.HasPrefix(f.Key, "process.") {
			add(kindOf(key, nil), f.Value)
		}
	}
	for _, one := range s.Samples {
		for _, l := range one.Labels {
			add(kindOf(l.Name, nil), l.Value)
		}
	}
	for _, f := range s.Report.Findings {
		for name, value := range f.Subject {
			add(kindOf(name, nil), value)
		}
	}
	for _, w := range r.choice.Words {
		add("word", w)
	}
	r.compile(names)
}

// compile gives each name its number, the longest first, so that one that is
// part of another does not break it.
func (r *redactor) compile(names map[string]string) {
	all := slices.SortedFunc(maps.Keys(names), func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	var long, short []string
	for _, n := range all {
		r.pseudonym(names[n], n)
		r.known[n].Times = 0
		if len(n) >= longName {
			long = append(long, regexp.QuoteMeta(n))
		} else {
			short = append(short, regexp.QuoteMeta(n))
		}
	}
	if len(long) > 0 {
		r.words = regexp.MustCompile(strings.Join(long, "|"))
	}
	if len(short) > 0 {
		r.short = regexp.MustCompile(strings.Join(short, "|"))
	}
}

// longName is from how many bytes on a name is replaced inside of words too: a
// topic's name begins the names of its retry topics. A short one would be found
// in any word.
const longName = 6

// bounded replaces the matches that are words of their own.
func bounded(pattern *regexp.Regexp, s string, replace func(string) string) string {
	var b strings.Builder
	done := 0
	for _, m := range pattern.FindAllStringIndex(s, -1) {
		if m[0] > 0 && wordByte(s[m[0]-1]) || m[1] < len(s) && wordByte(s[m[1]]) {
			continue
		}
		b.WriteString(s[done:m[0]])
		b.WriteString(replace(s[m[0]:m[1]]))
		done = m[1]
	}
	return b.String() + s[done:]
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

var quotedText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// quoted replaces what is in the quotes of an expression: the values of labels.
func (r *redactor) quoted(expr string) string {
	return quotedText.ReplaceAllStringFunc(expr, r.text)
}

// Patterns of what gives itself away by its shape. A message id of RocketMQ is
// an address, a process and an offset in hexadecimal (16 bytes of version 4 with
// IPv4 offset ids, 28 or 32 digits and more).
var (
	messageID = regexp.MustCompile(`\b[0-9A-Fa-f]{24,}\b`)
	ipv4      = regexp.MustCompile(`\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}\b`)
	ipv6      = regexp.MustCompile(`(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?:%[A-Za-z0-9]+)?`)
	mail      = regexp.MustCompile(`\b[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\b`)
	hostName  = regexp.MustCompile(`\b(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+(?:com|net|org|io|cn|de|uk|fr|jp|in|local|lan|internal|intra|corp|cloud|svc|example|test|home)\b(?:\.cluster\.local)?`)
	userField = regexp.MustCompile(`(?i)\b(user(?:name)?|principal|login|account)(\s*[=:]\s*)("?)([^\s",;)\]}]+)`)
	keyField  = regexp.MustCompile(`(?i)\b(topic|group|consumerGroup|producerGroup|keys?|clientId|msgId|brokerName)(\s*[=:]\s*)("?)([^\s",;)\]}]+)`)
	pathText  = regexp.MustCompile(`(?:/[A-Za-z0-9._@+-]+){2,}/?`)
)

// text replaces what is in a text.
func (r *redactor) text(s string) string {
	if s == "" {
		return s
	}
	if r.words != nil {
		s = r.words.ReplaceAllStringFunc(s, func(m string) string { return r.pseudonym("", m) })
	}
	if r.short != nil {
		s = bounded(r.short, s, func(m string) string { return r.pseudonym("", m) })
	}
	s = userField.ReplaceAllStringFunc(s, func(m string) string { return r.field(userField, "user", m) })
	s = keyField.ReplaceAllStringFunc(s, func(m string) string {
		return r.field(keyField, kindOf(keyField.FindStringSubmatch(m)[1], nil), m)
	})
	s = mail.ReplaceAllStringFunc(s, func(m string) string { return r.pseudonym("user", m) })
	s = messageID.ReplaceAllStringFunc(s, func(m string) string { return r.pseudonym("message", m) })
	s = ipv4.ReplaceAllStringFunc(s, r.address)
	s = bounded(ipv6, s, r.address)
	s = hostName.ReplaceAllStringFunc(s, func(m string) string { return r.pseudonym("host", m) })
	if r.choice.Paths {
		s = pathText.ReplaceAllStringFunc(s, r.path)
	}
	return s
}

// field replaces the value of a field in a text.
func (r *redactor) field(pattern *regexp.Regexp, kind, m string) string {
	p := pattern.FindStringSubmatch(m)
	if kind == "" || r.isPseudonym(p[4]) || strings.Trim(p[4], "0123456789.") == "" {
		return m
	}
	return p[1] + p[2] + p[3] + r.pseudonym(kind, p[4])
}

var pseudonymShape = regexp.MustCompile(`^(?:host|user|topic|group|client|key|message|address|path|word)-[0-9]+$`)

func (r *redactor) isPseudonym(s string) bool { return pseudonymShape.MatchString(s) }

// address replaces an address, but for those that every host has.
func (r *redactor) address(m string) string {
	a, err := netip.ParseAddr(m)
	if err != nil || a.IsLoopback() || a.IsUnspecified() {
		return m
	}
	return r.pseudonym("address", m)
}

// systemPaths begin paths that tell nothing of a house.
var systemPaths = []string{"/proc/", "/sys/", "/dev/", "/etc/sysctl", "/usr/", "/bin/", "/api/"}

func (r *redactor) path(m string) string {
	for _, p := range systemPaths {
		if strings.HasPrefix(m, p) || m+"/" == p {
			return m
		}
	}
	return r.pseudonym("path", m)
}

// series replaces the values of labels.
func (r *redactor) series(s Series) Series {
	out := Series{T: s.T, V: s.V}
	for _, l := range s.Labels {
		if l.Name != "__name__" {
			l.Value = r.text(l.Value)
		}
		out.Labels = append(out.Labels, l)
	}
	return out
}

// copyJSON copies all that is JSON, with every text in it replaced: values and,
// in maps of attributes, keys that are texts of the host too.
func (r *redactor) copyJSON(s, into *Snapshot) error {
	to := into.parts()
	for i, p := range s.parts() {
		data, err := marshal(p.into)
		if err != nil {
			return err
		}
		var any any
		dec := json.NewDecoder(strings.NewReader(string(data)))
		dec.UseNumber()
		if err := dec.Decode(&any); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if data, err = marshal(r.value(any)); err != nil {
			return err
		}
		if err := json.Unmarshal(data, to[i].into); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// value replaces every text in a JSON value.
func (r *redactor) value(v any) any {
	switch x := v.(type) {
	case string:
		return r.text(x)
	case []any:
		for i := range x {
			x[i] = r.value(x[i])
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(x)) {
			if text, ok := x[k].(string); ok && (k == "expr" || k == "limit" || k == "devices") {
				x[k] = r.quoted(text)
				continue
			}
			x[k] = r.value(x[k])
		}
	}
	return v
}

// list is what was replaced, kind by kind.
func (r *redactor) list() []Replaced {
	var out []Replaced
	for _, k := range r.known {
		if k.Times > 0 {
			out = append(out, *k)
		}
	}
	slices.SortFunc(out, func(a, b Replaced) int {
		if c := strings.Compare(a.Kind, b.Kind); c != 0 {
			return c
		}
		return strings.Compare(a.From, b.From)
	})
	return out
}
