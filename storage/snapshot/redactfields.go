package snapshot

import "strings"

// field is a value in a text behind its name: user=jane, "topic":"orders".
type field struct {
	kind     string
	from, to int // of the value, without quotes
}

// fieldEnds are how the names of fields end, without dots and underscores. The
// first that fits counts.
var fieldEnds = []struct{ end, kind string }{
	{"password", "secret"},
	{"passwd", "secret"},
	{"pwd", "secret"},
	{"passphrase", "secret"},
	{"apikey", "secret"},
	{"privatekey", "secret"},
	{"secret", "secret"},
	{"token", "secret"},
	{"accesskey", "secret"},
	{"secretkey", "secret"},
	{"credential", "secret"},
	{"credentials", "secret"},
	{"user", "user"},
	{"username", "user"},
	{"principal", "user"},
	{"login", "user"},
	{"account", "user"},
	{"owner", "user"},
	{"uid", "user"},
	{"cgroup", ""},
	{"topic", "topic"},
	{"topics", "topic"},
	{"group", "group"},
	{"groups", "group"},
	{"groupname", "group"},
	{"groupid", "group"},
	{"msgkey", "key"},
	{"msgkeys", "key"},
	{"messagekey", "key"},
	{"messagekeys", "key"},
	{"uniqkey", "key"},
	{"orderkey", "key"},
	{"clientid", "client"},
	{"msgid", "message"},
	{"messageid", "message"},
	{"host", "host"},
	{"hostname", "host"},
	{"brokername", "host"},
	{"brokerclustername", "host"},
	{"nodename", "host"},
	{"pod", "host"},
	{"podname", "host"},
	{"namesrvaddr", "address"},
	{"bootstrapservers", "address"},
	{"zookeeperconnect", "address"},
	{"listeners", "address"},
	{"remoteaddr", "address"},
	{"remoteaddress", "address"},
	{"brokeraddr", "address"},
}

var separators = strings.NewReplacer("_", "", ".", "", "-", "")

// fieldKind is the kind of the value behind a field's name, empty for none.
func fieldKind(name string) string {
	if name == "" {
		return ""
	}
	name = strings.ToLower(name)
	if last := name[strings.LastIndexAny(name, "._-")+1:]; last == "pass" {
		return "secret"
	}
	name = separators.Replace(name)
	if name == "key" || name == "keys" {
		return "key"
	}
	for _, f := range fieldEnds {
		if strings.HasSuffix(name, f.end) {
			return f.kind
		}
	}
	return ""
}

// quoteMarks are what may stand around a name or a value.
var quoteMarks = []string{`\"`, `"`, `'`, `&quot;`, `&#34;`}

// maxField is how long the name of a field may be, in bytes.
const maxField = 48

// fieldsIn finds the fields of a text, in order.
func fieldsIn(s string) []field {
	var out []field
	for i := 0; i < len(s); i++ {
		if s[i] != '=' && s[i] != ':' {
			continue
		}
		kind := fieldKind(nameBefore(s, i))
		if kind == "" {
			continue
		}
		if from, to := valueBehind(s, i+1); to > from {
			out = append(out, field{kind, from, to})
			i = to - 1
		}
	}
	return out
}

// nameBefore is the word before a sign.
func nameBefore(s string, i int) string {
	end := i
	for end > 0 && i-end < 3 && s[end-1] == ' ' {
		end--
	}
	for _, q := range quoteMarks {
		if strings.HasSuffix(s[:end], q) {
			end -= len(q)
			break
		}
	}
	from := end
	for from > 0 && end-from < maxField && (wordByte(s[from-1]) || s[from-1] == '.' || s[from-1] == '-') {
		from--
	}
	return s[from:end]
}

// valueBehind is where the value behind a sign stands: what is in its quotes, or
// a word.
func valueBehind(s string, i int) (from, to int) {
	for skipped := 0; i < len(s) && s[i] == ' ' && skipped < 3; skipped++ {
		i++
	}
	for _, q := range quoteMarks {
		if strings.HasPrefix(s[i:], q) {
			i += len(q)
			if n := strings.Index(s[i:min(len(s), i+2*maxName)], q); n >= 0 {
				return i, i + n
			}
			break
		}
	}
	n := strings.IndexAny(s[i:], " \t\r\n\"'\\,;)]}&<>|")
	if n < 0 {
		n = len(s) - i
	}
	return i, i + n
}

// fieldsOf replaces the values of the fields of a text.
func (r *redactor) fieldsOf(s string) string {
	var b strings.Builder
	done := 0
	for _, f := range fieldsIn(s) {
		value := s[f.from:f.to]
		if marked(value) || harmless[strings.ToLower(value)] || isCount(f.kind, value) {
			continue
		}
		b.WriteString(s[done:f.from])
		b.WriteString(r.mark(f.kind, value))
		done = f.to
	}
	if done == 0 {
		return s
	}
	return b.String() + s[done:]
}

// isCount reports whether a value is a number that names nothing.
func isCount(kind, value string) bool {
	return strings.Trim(value, "0123456789.-") == "" && (len(value) < 5 && kind != "secret" || kind == "host")
}

// marked reports whether a text is pseudonyms already, with what may stand
// between them.
func marked(s string) bool {
	seen := false
	for _, c := range s {
		if c >= firstMark {
			seen = true
		} else if !strings.ContainsRune(":/@;,0123456789", c) {
			return false
		}
	}
	return seen || s == ""
}
