package snapshot

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"testing"

	"stallmark/storage/model"
)

// marker is a text with a secret in it that gives itself away there: no other
// field of the snapshot tells of it.
type marker struct{ kind, text, secret string }

var markers = []marker{
	{"message id", "msgId 0A2A070D00002A9F00000000000DEADB in queue 3", "0A2A070D00002A9F00000000000DEADB"},
	{"message id, lower case", "[0a2a070d7fff2a9f0000000000c0ffee]", "0a2a070d7fff2a9f0000000000c0ffee"},
	{"message id of IPv6", "id 20010DB80000000000000000BEEF000100002A9F0000000000001234", "20010DB80000000000000000BEEF0001"},
	{"store host", "store 0A2A070D00002A9F", "0A2A070D"},
	{"IPv4", "peer 203.0.113.77 is slow", "203.0.113.77"},
	{"IPv4 and port", "/203.0.113.78:10911", "203.0.113.78"},
	{"IPv4 in a name", "ip-203-0-113-79", "203-0-113-79"},
	{"IPv6", "peer 2001:db8:77::beef:9 is slow", "2001:db8:77::beef:9"},
	{"IPv6 and port", "[2001:db8:78::beef:9]:9876", "2001:db8:78::beef:9"},
	{"IPv6 and zone", "fe80::77:beef%eth0", "fe80::77:beef"},
	{"IPv4 in IPv6", "::ffff:203.0.113.80", "203.0.113.80"},
	{"IPv6, percent-encoded", "?a=2001%3Adb8%3A79%3A%3Abeef", "db8%3A79"},
	{"MAC address", "dev 02:42:ac:77:00:09", "02:42:ac:77:00:09"},
	{"user and host", "by jdoe77@mq-zone77", "jdoe77"},
	{"host behind a user", "by jdoe77@mq-zone77", "mq-zone77"},
	{"mail, percent-encoded", "m=jdoe78%40acme77.test", "jdoe78"},
	{"mail in HTML", "jdoe79&#64;acme77.test", "acme77"},
	{"mail in JSON", `jdoe80\u0040acme77.test`, "jdoe80"},
	{"host name", "from mq7.zone77.internal now", "zone77"},
	{"host and port", "namesrv mq-zone78:9876", "mq-zone78"},
	{"home folder", "/home/jdoe81/store/commitlog", "jdoe81"},
	{"home folder, percent-encoded", "f=%2Fhome%2Fjdoe82%2Fstore", "jdoe82"},
	{"home folder of Windows", `C:\Users\jdoe83\store`, "jdoe83"},
	{"path", "open /data77/orders77/commitlog: no space", "orders77"},
	{"topic in a line", "putMessage topic=Orders77 queueId=3", "Orders77"},
	{"topic in brackets", "[topic: Orders78, queue: 3]", "Orders78"},
	{"topic in JSON", `{"topic":"Orders79","queue":3}`, "Orders79"},
	{"topic in JSON in JSON", `{\"topic\":\"Orders80\"}`, "Orders80"},
	{"topic in HTML", `&quot;topic&quot;:&quot;Orders81&quot;`, "Orders81"},
	{"group in a line", "consumerGroup=Billing77 lag 3", "Billing77"},
	{"retry topic", "%RETRY%Billing78", "Billing78"},
	{"retry topic, percent-encoded", "%25DLQ%25Billing79", "Billing79"},
	{"message key", "keys=K77x9", "K77x9"},
	{"client id", `clientId="Client77"`, "Client77"},
	{"thread of a group", "ConsumeMessageThread_Billing80_12 waits", "Billing80"},
	{"group of a thread, alone", "ConsumeMessageThread_Billing82-x_3 and Billing82-x", "Billing82"},
	{"thread of a client", "kafka-producer-network-thread | Client78", "Client78"},
	{"thread of a consumer", "kafka-coordinator-heartbeat-thread | Billing81", "Billing81"},
	{"device mapper", "/dev/mapper/vg_acme77-lv_orders", "acme77"},
	{"pod", "pod payments77-7d9f8b6c55-x2x4z", "payments77"},
	{"pod uid", "kubepods-burstable-pod7f3a9c77_aaaa_4bbb_8ccc_123456789abc.slice", "7f3a9c77"},
	{"container id", "cri-containerd-77deadbeefdeadbeefdeadbeefdeadbeefdeadbeefdeadbeefdeadbeefdeadbe.scope", "77deadbeef"},
	{"password of a JVM", "java -Xmx8g -Djavax.net.ssl.keyStorePassword=hunter77 -jar x", "hunter77"},
	{"password, short name", "-Ddb.pwd=hunter78", "hunter78"},
	{"passphrase", "ssl.passphrase: hunter79", "hunter79"},
	{"JAAS", `PlainLoginModule required username="adm77" password="hunter80";`, "hunter80"},
	{"user of JAAS", `PlainLoginModule required username="adm77" password="hunter80";`, "adm77"},
	{"API key", "X-Api-Key: Zk77Ab", "Zk77Ab"},
	{"bearer token", "Authorization: Bearer eyJ77abc.def", "eyJ77abc"},
	{"basic credentials", "authorization: Basic YWRtOmh1bnRlcjgx", "YWRtOmh1bnRlcjgx"},
	{"credentials in an address", "http://adm78:hunter82@zone79:8080/x", "hunter82"},
	{"user in an address", "amqp://adm79:hunter83@zone80/vhost", "adm79"},
	{"host in an address", "pulsar+ssl://zone81:6651", "zone81"},
	{"host in JDBC", "jdbc:mysql://zone82:3306/shop77", "shop77"},
	{"token in an address", "GET /x?access_token=Tk77&y=1", "Tk77"},
}

// spots put a text into one field of a snapshot.
var spots = map[string]func(s *Snapshot, text string){
	"event":     func(s *Snapshot, text string) { s.Events[0].Text = text },
	"source":    func(s *Snapshot, text string) { s.Events[0].Source = text },
	"attribute": func(s *Snapshot, text string) { s.Events[0].Attrs = map[string]string{"surroundings": text} },
	"fact": func(s *Snapshot, text string) {
		s.Facts = []model.Fact{{At: at, Key: "process.7.cmdline", Value: text}}
	},
	"coverage": func(s *Snapshot, text string) { s.Report.Coverage = []model.Coverage{{Source: "logs", Detail: text}} },
	"label": func(s *Snapshot, text string) {
		s.Samples[0].Labels = append(s.Samples[0].Labels, model.Label{Name: "thread", Value: text})
	},
	"line": func(s *Snapshot, text string) {
		s.Lines[0].Series[0].Labels = []model.Label{{Name: "thread", Value: text}}
	},
	"title":    func(s *Snapshot, text string) { s.Meta.Title = text },
	"left out": func(s *Snapshot, text string) { s.Meta.Cut = []string{text} },
	"evidence": func(s *Snapshot, text string) { s.Report.Findings[0].Evidence = []model.Evidence{{Detail: text}} },
	"subject":  func(s *Snapshot, text string) { s.Report.Findings[0].Subject = map[string]string{"thread": text} },
	"remedy":   func(s *Snapshot, text string) { s.Report.Findings[0].Remedy = []model.Remedy{{Apply: text}} },
	"excerpt": func(s *Snapshot, text string) {
		s.Report.Excerpts = []model.Excerpt{{File: "x", Says: []string{text}, Signs: []string{text}}}
	},
	"ruled out":   func(s *Snapshot, text string) { s.Report.RuledOut = []model.RuledOut{{Signature: "x", Why: text}} },
	"unknown":     func(s *Snapshot, text string) { s.Report.Unknown = []model.Unknown{{Signature: "x", Why: text}} },
	"to be found": func(s *Snapshot, text string) { s.Report.Decide = []string{text} },
}

// spotted is a snapshot with a text in one place.
func spotted(put func(*Snapshot, string), text string) *Snapshot {
	s := sample()
	s.Report.Findings = []model.Finding{{ID: "f", Signature: "x", Started: at, Subject: map[string]string{}}}
	s.Lines = []Line{{Expr: "x", Series: []Series{{T: []int64{at.UnixMilli()}, V: []float64{1}}}}}
	put(s, text)
	return s
}

// readable is what can be read in a snapshot, in any layer: as JSON, what JSON
// says, and that as it stands in HTML, in an address of the web and in base64.
func readable(t *testing.T, s *Snapshot) []byte {
	t.Helper()
	text := string(layers(t, s))
	all := bytes.NewBufferString(text + html.UnescapeString(text))
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \"'<>,:;()[]{}", r) }) {
		if u, err := url.QueryUnescape(word); err == nil {
			all.WriteString(u + "\n")
		}
		if data, err := base64.StdEncoding.DecodeString(word); err == nil {
			all.Write(data)
		}
	}
	return bytes.ToLower(all.Bytes())
}

// left reports whether a secret is in a text, in any way of writing it.
func left(text []byte, secret string) bool {
	forms := []string{secret, url.QueryEscape(secret), html.EscapeString(secret)}
	if j, err := json.Marshal(secret); err == nil {
		forms = append(forms, strings.Trim(string(j), `"`))
	}
	return slices.ContainsFunc(forms, func(form string) bool { return bytes.Contains(text, bytes.ToLower([]byte(form))) })
}

// TestRedactMarkers puts each marker alone into an event, and all of them into
// each other place: no other field helps to find them.
func TestRedactMarkers(t *testing.T) {
	var all []string
	for _, m := range markers {
		all = append(all, m.text)
		checkMarkers(t, "event", m.text, m)
	}
	for name := range spots {
		checkMarkers(t, name, strings.Join(all, "\n"), markers...)
	}
}

func checkMarkers(t *testing.T, spot, text string, want ...marker) {
	t.Helper()
	s := spotted(spots[spot], text)
	got, _, err := Redact(s, "", Choice{Paths: true})
	if err != nil {
		t.Fatal(err)
	}
	before, after := readable(t, s), readable(t, got)
	for _, m := range want {
		if !left(before, m.secret) {
			t.Fatalf("%s is not even in the original (%s)", m.kind, spot)
		}
		if left(after, m.secret) {
			t.Errorf("%s in %s: %q is left", m.kind, spot, m.secret)
		}
	}
}

// between are what may stand around a marker that ends a word.
const betweenMarkers = " ,;\t\n\"'()<>[]|"

// FuzzRedact puts markers between other texts: none is left, whatever stands
// around them.
func FuzzRedact(f *testing.F) {
	for i := range markers {
		f.Add("user=jane topic=orders 10.0.0.1", "] took 3 ms", uint8(i), uint8(i), "orders")
	}
	for i, text := range hostile {
		f.Add(text, text, uint8(i), uint8(i), "a")
	}
	f.Fuzz(func(t *testing.T, before, after string, which, sign uint8, topic string) {
		m := markers[int(which)%len(markers)]
		gap := string(betweenMarkers[int(sign)%len(betweenMarkers)])
		s := sample()
		s.Events[0].Text = before + gap + m.text + gap + after
		s.Events[0].Attrs = map[string]string{"topic": topic}
		got, _, err := Redact(s, "", Choice{Paths: true})
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ToLower(got.Events[0].Text)
		if strings.Contains(text, strings.ToLower(m.secret)) && !strings.Contains(strings.ToLower(before+after), strings.ToLower(m.secret)) {
			t.Fatalf("%s between %q and %q: %s", m.kind, before, after, got.Events[0].Text)
		}
		if _, _, err := Redact(got, "", Choice{Paths: true}); err != nil {
			t.Fatal(fmt.Errorf("again: %w", err))
		}
	})
}
