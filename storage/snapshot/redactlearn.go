package snapshot

import (
	"encoding/hex"
	"encoding/json"
	"html"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"stallmark/storage/model"
)

// named are the attributes of events, the labels of series and the last words of
// the keys of facts whose values are names of a kind.
var named = map[string]string{
	"topic": "topic", "topics": "topic", "group": "group", "consumergroup": "group", "consumer_group": "group", "producergroup": "group",
	"host": "host", "hostname": "host", "broker": "host", "brokername": "host", "brokerclustername": "host", "instance": "host", "node": "host",
	"node_name": "host", "nodename": "host", "follower": "host", "peer": "host", "server": "host", "cluster": "host", "domain": "host",
	"namesrvaddr": "address", "listeners": "address", "connect": "address", "servers": "address", "brokerip1": "address", "brokerip2": "address",
	"bindaddress": "address", "address": "address", "addr": "address", "remote": "address", "ip": "address", "mac": "address", "url": "address",
	"user": "user", "username": "user", "uid": "user", "owner": "user", "principal": "user", "client": "client", "clientid": "client", "client_id": "client",
	"key": "key", "keys": "key", "msgkey": "key", "msgid": "message", "messageid": "message", "msg_id": "message", "offsetmsgid": "message", "uniqkey": "message",
	"pod": "pod", "pod_name": "pod", "namespace": "namespace", "container_name": "container", "container_id": "container",
	"password": "secret", "secret": "secret", "token": "secret", "accesskey": "secret", "secretkey": "secret",
}

// closed are labels and attributes whose values are words of the kernel's, of
// the rule pack's or of this program's own: no name of a house is among them.
var closed = map[string]bool{
	"mode": true, "state": true, "type": true, "zone": true, "wait": true, "function": true, "pattern": true, "signature": true, "baseline": true,
	"quantile": true, "le": true, "cpu": true, "resource": true, "collector": true, "gc": true, "pid": true, "tid": true, "seconds": true, "level": true,
	"stack": true, "kind": true, "direction": true, "order": true, "migratetype": true, "unit": true,
}

// pathNames are labels whose values are paths.
var pathNames = map[string]bool{"mount": true, "mountpoint": true, "path": true, "file": true, "folder": true, "dir": true, "log": true, "cgroup": true}

// harmless are names that every host has.
var harmless = map[string]bool{
	"root": true, "nobody": true, "null": true, "none": true, "true": true, "false": true, "unknown": true, "default": true, "localhost": true,
	"java": true, "all": true, "-": true, "": true, "0": true, "localhost.localdomain": true,
}

// kindOf is the kind of the values under a name, empty for none. "key" of a
// setting is the setting's own name and not a message's.
func kindOf(name string, setting bool) string {
	if setting {
		return ""
	}
	return named[strings.ToLower(name)]
}

// learn collects the names that stand in fields of their own, so that they are
// found in texts as well.
func (r *redactor) learn(s *Snapshot) error {
	for _, sig := range s.Signatures {
		r.catalogue[sig.ID], r.catalogue[sig.Title], r.catalogue[sig.What] = true, true, true
	}
	for i, f := range s.Report.Findings {
		r.ids[f.ID] = "finding-" + strconv.Itoa(i+1)
	}
	for _, w := range r.choice.Words {
		r.name("word", w)
	}
	r.name("host", s.Meta.Host)
	if short, domain, ok := strings.Cut(s.Meta.Host, "."); ok {
		r.name("host", short)
		if strings.Contains(domain, ".") {
			r.name("host", domain)
		}
	}
	r.learnFields(s)
	texts, err := textsOf(s)
	if err != nil {
		return err
	}
	for _, t := range texts {
		r.learnText(t)
	}
	return nil
}

// learnFields takes the names out of attributes, labels and facts.
func (r *redactor) learnFields(s *Snapshot) {
	for i := range s.Events {
		e := &s.Events[i]
		for _, name := range sorted(e.Attrs) {
			r.name(kindOf(name, e.Kind == model.EventSetting), e.Attrs[name])
		}
	}
	for _, f := range s.Facts {
		r.name(factKind(f.Key), f.Value)
	}
	for _, one := range s.Samples {
		r.learnLabels(one)
	}
	for _, l := range s.Lines {
		for _, one := range l.Series {
			r.learnLabels(one)
		}
	}
	for _, f := range s.Report.Findings {
		for _, name := range sorted(f.Subject) {
			r.name(kindOf(name, false), f.Subject[name])
		}
	}
}

func (r *redactor) learnLabels(s Series) {
	for _, l := range s.Labels {
		r.name(kindOf(l.Name, false), l.Value)
		if !closed[l.Name] && l.Name != "__name__" && !r.read[l.Value] {
			r.read[l.Value] = true
			r.learnText(l.Value)
		}
	}
}

// factKind is the kind of a fact's value.
func factKind(key string) string {
	if key == "host.name" {
		return "host"
	}
	if strings.HasPrefix(key, "process.") {
		return kindOf(key[strings.LastIndexByte(key, '.')+1:], false)
	}
	return ""
}

// retry are the topics that RocketMQ makes for a group.
var retry = regexp.MustCompile(`%(?:25)?(?:RETRY|DLQ)%(?:25)?([\w.-]+)`)

// name learns a name with the forms in which it is written elsewhere.
func (r *redactor) name(kind, value string) { r.learned(kind, value, false) }

// learned learns a name that is found as a word of its own only, or everywhere.
func (r *redactor) learned(kind, value string, word bool) {
	value = strings.TrimSpace(value)
	if kind == "" || len(value) < 2 || len(value) > maxName || harmless[strings.ToLower(value)] {
		return
	}
	if strings.Trim(value, "0123456789.-") == "" && len(value) < 5 {
		return // a small number is in many a text
	}
	if m := retry.FindStringSubmatch(value); m != nil && m[1] != value {
		r.name("group", m[1])
	}
	place := r.place(kind, value)
	for _, form := range formsOf(value) {
		r.names.add(form, place, word)
	}
}

// formsOf are the ways in which a name is written: in an address of the web, in
// HTML, in JSON, in a regular expression of a query.
func formsOf(name string) []string {
	quoted := regexp.QuoteMeta(name)
	forms := []string{name, url.QueryEscape(name), url.PathEscape(name), html.EscapeString(name), quoted, strings.ReplaceAll(quoted, `\`, `\\`)}
	if j, err := json.Marshal(name); err == nil {
		forms = append(forms, strings.Trim(string(j), `"`))
	}
	if a, err := netip.ParseAddr(name); err == nil {
		b := a.AsSlice()
		forms = append(forms, hex.EncodeToString(b))
		if a.Is4() {
			forms = append(forms, strings.ReplaceAll(name, ".", "-"), strings.ReplaceAll(name, ".", "_"))
		}
	}
	return forms
}

// learnText takes names out of a text in which they stand behind their field's
// name or in an address, so that they are found where they stand alone.
func (r *redactor) learnText(s string) {
	if strings.ContainsAny(s, "=:") {
		for _, f := range fieldsIn(s) {
			r.learnValue(f.kind, s[f.from:f.to])
		}
		r.learnSecond(uidUser, "user", s)
		for _, m := range jdbc.FindAllString(s, -1) {
			for _, word := range urlWords.FindAllString(m, -1) {
				r.learnWord("host", word[1:])
			}
		}
		for _, m := range authority.FindAllStringSubmatch(s, -1) {
			host, _, _ := strings.Cut(m[2][strings.LastIndexByte(m[2], '@')+1:], ":")
			if !references[strings.ToLower(host)] {
				r.learnValue("host", host)
			}
		}
	}
	for _, w := range learnt {
		if w.in(s) {
			r.learnSecond(w.pattern, w.kind, s)
		}
	}
	if strings.Contains(s, "%") {
		for _, m := range retry.FindAllStringSubmatch(s, -1) {
			r.name("group", m[1])
		}
	}
	for _, m := range ipv4.FindAllString(s, -1) {
		if a, err := netip.ParseAddr(m); err == nil && !everywhere(a) {
			r.name("address", m)
		}
	}
}

// learnt are what texts tell names by, besides fields.
var learnt = []worded{
	{"home", "user", homeUser},
	{"sers", "user", homeUser},
	{" from ", "user", sshUser},
	{"@", "user", atName},
	{"@", "host", atHost},
	{"Thread_", "group", consumers},
	{"thread | ", "client", clients},
	{"mapper/", "volume", volume},
}

var (
	urlWords = regexp.MustCompile(`(?:@|//|/|:)([\w.-]*[\w-])`)
	atName   = regexp.MustCompile(`()([\w.-]*\w)@`)
	atHost   = regexp.MustCompile(`(@)([\w.-]*\w)`)
)

func (r *redactor) learnSecond(p *regexp.Regexp, kind, s string) {
	for _, m := range p.FindAllStringSubmatch(s, -1) {
		r.learnWord(kind, m[2])
	}
}

// learnValue learns a value if it tells something; of a list of addresses, each.
func (r *redactor) learnValue(kind, value string) {
	if kind != "address" && kind != "host" {
		if telling(value) {
			r.name(kind, value)
		}
		return
	}
	for _, one := range strings.FieldsFunc(value, func(c rune) bool { return strings.ContainsRune("@:/;,", c) }) {
		r.learnWord("host", one)
	}
}

// learnWord learns what stands where only a name can stand.
func (r *redactor) learnWord(kind, word string) {
	switch {
	case telling(word) && strings.Trim(word, "0123456789") != "":
		r.name(kind, word)
	case len(word) >= 4 && !common[strings.ToLower(word)]:
		r.learned(kind, word, true)
	}
}

// common are words that stand in addresses and tell nothing.
var common = map[string]bool{
	"mysql": true, "postgresql": true, "oracle": true, "thin": true, "http": true, "https": true, "user": true, "server": true, "kafka": true,
	"broker": true, "sqlserver": true, "mariadb": true, "plaintext": true, "localhost": true, "home": true, "data": true, "disk": true, "memory": true,
	"page": true, "pages": true, "cache": true, "write": true, "read": true, "fsync": true, "dirty": true, "index": true, "html": true, "true": true, "false": true,
}

// telling reports whether a value in a text is a name and no word of the
// language: it would be replaced everywhere.
func telling(s string) bool {
	if len(s) < 4 || len(s) > maxName {
		return false
	}
	return strings.ContainsAny(s, "0123456789-_.%@") || strings.ToLower(s[1:]) != s[1:] || strings.ContainsFunc(s, func(c rune) bool { return c > 0x7f })
}
