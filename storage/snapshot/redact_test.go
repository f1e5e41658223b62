package snapshot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"stallmark/storage/model"
)

// seeds are texts that must not be left in a redacted snapshot.
var seeds = []string{
	"10.42.7.13", "192.168.200.9", "2001:db8::beef:1", "broker-07", "mq-prod-3.corp.example.com",
	"orders-secret-topic", "billing-group", "alice@example.com", "0A2A070D00002A9F0000000000012345", "C0A8C809007B2A139A5528C0D6620000", "MSGKEY-778899",
	"rmq-user-jane", "zq",
	// Forms of the same and of others.
	"ORDERS-SECRET-TOPIC", "billing.group%2Fx", "alice%40example.com", "alice&#64;example.com", "2001%3Adb8%3A%3Abeef%3A1", "0a2a070d", "ip-10-42-7-13",
	"2001:db8:0:1:2:3:4:99", "fe80::abcd:1", "02:42:ac:11:00:02", "7f3a9c11-aaaa-4bbb-8ccc-123456789abc", "payments-svc-7d9f8b6c55-x2x4z",
	"20010DB80000000000000000BEEF000100002A9F000000000000000000001234", "jdbchost", "shopdb", "hunter2", "winuser", "secretshare", "ns-internal-1",
	"4711778899", "queue-holder", "json-topic", "js-escaped-group", "retry-only-group", "dlq-only-group", "vaultmount", "cgroup-tenant", "slack.acme.io",
	"deadbeefdeadbeefdeadbeefdeadbeef0123", "orders\\.quoted", "ssh-person", "uid-person", "notme-bob",
}

// placed reports whether a text gives itself away only by where it stands.
func placed(seed string) bool {
	return slices.Contains([]string{"vaultmount", "cgroup-tenant", "secretshare", "winuser", "hunter2"}, seed)
}

// hostile are lines that carry them.
var hostile = []string{
	`GET /t/ORDERS-SECRET-TOPIC?g=billing.group%2Fx&m=alice%40example.com&a=2001%3Adb8%3A%3Abeef%3A1 mail alice&#64;example.com`,
	`store 0a2a070d of ip-10-42-7-13.ec2.internal, peers [2001:db8:0:1:2:3:4:99]:9876 addr:fe80::abcd:1:10911 mac 02:42:ac:11:00:02`,
	`kubepods-pod7f3a9c11_aaaa_4bbb_8ccc_123456789abc 7f3a9c11-aaaa-4bbb-8ccc-123456789abc payments-svc-7d9f8b6c55-x2x4z id_20010DB80000000000000000BEEF000100002A9F000000000000000000001234_`,
	`jdbc:mysql://jdbchost:3306/shopdb?user=root&password=hunter2 jdbc:oracle:thin:@jdbchost:1521:shopdb secretKey="hunter2"`,
	`C:\Users\winuser\store \\fileserver\secretshare\x namesrvAddr=ns-internal-1:9876;ns-internal-1:9877 then ns-internal-1 alone`,
	`keys=4711778899 then 4711778899; topic@queue topic-x@queue-holder {"topic":"json-topic"} {\"group\":\"js-escaped-group\"} json-topic`,
	`%RETRY%retry-only-group %25DLQ%25dlq-only-group "http://slack.acme.io:8080/x" Accepted publickey for ssh-person from 10.0.0.9 uid=1000(uid-person) /home/notme-bob/x`,
	`docker-deadbeefdeadbeefdeadbeefdeadbeef0123.scope a_deadbeefdeadbeefdeadbeefdeadbeef0123  10.42.7.13_billing-group v10.42.7.13`,
}

// seeded is a snapshot with every seeds text in every kind of place.
func seeded() *Snapshot {
	s := sample()
	s.Meta.Host = "broker-07"
	s.Meta.Title = "Stall on broker-07 of orders-secret-topic"
	s.Meta.Cut = []string{"events of 10.42.7.13"}
	v := 1.0
	s.Report.Findings = []model.Finding{{
		ID: "f", Signature: "retry-queue-cold-reads", Title: "Consumers of billing-group read old data", Subject: map[string]string{"group": "billing-group", "topic": "zq"},
		Started: at, Evidence: []model.Evidence{{
			Title: "reads", Value: &v, Expr: `rate(x{group="billing-group",host="mq-prod-3.corp.example.com"}[3s])`, Limit: `y{topic="orders-secret-topic"}`,
			Detail: "seen from 192.168.200.9",
		}},
		Remedy: []model.Remedy{{Title: "t", Apply: "mqadmin -n 10.42.7.13:9876 -g billing-group"}}, Explains: []string{},
	}}
	s.Report.Coverage = []model.Coverage{{Source: "logs", Detail: "/home/jane/mq/store.log of mq-prod-3.corp.example.com"}}
	text := "[NOTIFYME]putMessage in lock cost time(ms)=900, " + strings.Join(slices.DeleteFunc(slices.Clone(seeds), placed), " , ") + " %RETRY%billing-group orders-secret-topic_dlq user=rmq-user-jane keys=MSGKEY-778899"
	s.Events = []model.Event{{
		From: at, To: at, Kind: model.EventLog, Source: "logs", Text: text,
		Attrs: map[string]string{"topic": "orders-secret-topic", "group": "billing-group", "address": "10.42.7.13", "user": "rmq-user-jane", "keys": "MSGKEY-778899", "msgid": "0A2A070D00002A9F0000000000012345"},
	}}
	for i, line := range hostile {
		e := model.Event{From: at, To: at, Kind: model.EventLog, Source: "logs", Text: line, Attrs: map[string]string{"surroundings": line, "key " + line: "1"}}
		s.Events = append(s.Events, e)
		s.Report.Excerpts = append(s.Report.Excerpts, model.Excerpt{File: line, Says: []string{line}, Signs: []string{line}, Notes: []string{line}})
		s.Meta.Cut = append(s.Meta.Cut, line)
		s.Samples = append(s.Samples, Series{Labels: []model.Label{{Name: "__name__", Value: "x"}, {Name: "process", Value: line}, {Name: "n", Value: fmt.Sprint(i)}}, T: []int64{at.UnixMilli()}, V: []float64{1}})
	}
	s.Report.Decide = hostile
	s.Events = append(s.Events, model.Event{From: at, To: at, Kind: model.EventLog, Attrs: map[string]string{"topic": "orders.quoted", "group": "billing.group/x"}, Text: `topic=~"orders\\.quoted"`})
	s.Samples = append(s.Samples, Series{Labels: []model.Label{
		{Name: "__name__", Value: "y"}, {Name: "cgroup", Value: "/cgroup-tenant.slice/x"}, {Name: "mountpoint", Value: "/vaultmount"},
	}, T: []int64{at.UnixMilli()}, V: []float64{1}})
	s.Report.Findings[0].Evidence = append(s.Report.Findings[0].Evidence, model.Evidence{Expr: `z{topic=~"orders\\.quoted|zq",mode="user"}`})
	s.Facts = []model.Fact{{At: at, Key: "host.name", Value: "broker-07"}, {At: at, Key: "process.7.config.brokerIP1", Value: "10.42.7.13"}}
	s.Samples[0].Labels = append(s.Samples[0].Labels, model.Label{Name: "group", Value: "billing-group"}, model.Label{Name: "topic", Value: "zq"})
	s.Lines[0] = Line{Expr: `rate(x{group="billing-group",host="mq-prod-3.corp.example.com"}[3s])`, Series: []Series{s.Samples[0]}}
	return s
}

// layers are the contents of a snapshot in every form in which they could be
// read: as it is encoded, and decoded again as JSON.
func layers(t *testing.T, s *Snapshot) []byte {
	t.Helper()
	files, err := s.entries()
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	for _, f := range files {
		all.Write(f.data)
		var v any
		if json.Unmarshal(f.data, &v) == nil {
			fmt.Fprintf(&all, "%v\n", v)
		}
	}
	fmt.Fprintf(&all, "%+v", *s)
	return all.Bytes()
}

func TestRedactLeavesNothing(t *testing.T) {
	before := layers(t, seeded())
	for _, m := range seeds {
		if !bytes.Contains(before, []byte(m)) {
			t.Fatalf("%s is not even in the original", m)
		}
	}
	got, replaced, err := Redact(seeded(), strings.Repeat("a", 64), Choice{Paths: true})
	if err != nil {
		t.Fatal(err)
	}
	after := bytes.ToLower(layers(t, got))
	for _, m := range append(seeds, "jane", "billing", "/home/") {
		if i := bytes.Index(after, bytes.ToLower([]byte(m))); i >= 0 {
			t.Errorf("%s is left: ...%s...", m, after[max(0, i-60):min(len(after), i+60)])
		}
	}
	if !got.Meta.Redacted || got.Meta.Parent != strings.Repeat("a", 64) || len(replaced) < len(seeds)-2 {
		t.Errorf("%+v, %d replaced", got.Meta, len(replaced))
	}
	if e := got.Report.Findings[0].Evidence[0].Expr; e != got.Lines[0].Expr {
		t.Errorf("evidence asks for %s, stored is %s", e, got.Lines[0].Expr)
	}
	a, _, err := got.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if b, _, err := seeded().Encode(); err != nil || a == b {
		t.Error("the redacted one has the id of the original")
	}
}

// TestRedactKeepsWhatMatters compares what is not about names.
func TestRedactKeepsWhatMatters(t *testing.T) {
	s := seeded()
	got, _, err := Redact(s, "", Choice{})
	if err != nil {
		t.Fatal(err)
	}
	if !got.Meta.From.Equal(s.Meta.From) || !got.Report.Findings[0].Started.Equal(at) || *got.Report.Findings[0].Evidence[0].Value != 1 {
		t.Error("times or values have changed")
	}
	if got.Report.Findings[0].Signature != "retry-queue-cold-reads" || got.Samples[0].Labels[0].Value != "a" || got.Report.RuledOut[0].Why != "6 ms" {
		t.Errorf("%+v", got.Report)
	}
	if !strings.Contains(got.Events[0].Text, "[NOTIFYME]putMessage in lock cost time(ms)=900") {
		t.Errorf("text %s", got.Events[0].Text)
	}
	one, two := got.Report.Findings[0].Subject["group"], got.Samples[0].Labels[2].Value
	if one != two || !strings.HasPrefix(one, "group-") {
		t.Errorf("one group is %s and %s", one, two)
	}
	if !strings.Contains(got.Events[0].Text, "%RETRY%"+one) {
		t.Errorf("the retry topic of the group is not told: %s", got.Events[0].Text)
	}
}

// TestRedactKeepsWords has topics that are named like words of this program's
// own: no field that it reads may change.
func TestRedactKeepsWords(t *testing.T) {
	s := seeded()
	f := &s.Report.Findings[0]
	f.Layer, f.Severity, f.State, f.Confidence = model.LayerCause, model.SeverityCritical, model.StateFiring, model.Confirmed
	f.Evidence[0].Role, f.Evidence[0].Unit = model.RoleConfirms, "seconds"
	for _, word := range []string{"critical", "cause", "firing", "confirmed", "confirms", "seconds", "iowait", "dirty-throttling", "retry-queue-cold-reads", "setting", "device"} {
		s.Events = append(s.Events, model.Event{From: at, To: at, Kind: model.EventLog, Attrs: map[string]string{"topic": word}})
	}
	s.Lines = append(s.Lines, Line{Expr: `node_cpu_seconds_total{mode="iowait"}`, Series: []Series{{
		Labels: []model.Label{{Name: "mode", Value: "iowait"}}, T: []int64{at.UnixMilli()}, V: []float64{1},
	}}})
	got, _, err := Redact(s, "", Choice{Paths: true})
	if err != nil {
		t.Fatal(err)
	}
	g := got.Report.Findings[0]
	if g.Layer != f.Layer || g.Severity != f.Severity || g.State != f.State || g.Confidence != f.Confidence || g.Signature != f.Signature ||
		g.Evidence[0].Role != f.Evidence[0].Role || g.Evidence[0].Unit != "seconds" || got.Signatures[0] != s.Signatures[0] {
		t.Errorf("%+v", g)
	}
	if l := got.Lines[len(got.Lines)-1]; l.Expr != `node_cpu_seconds_total{mode="iowait"}` || l.Series[0].Labels[0].Value != "iowait" {
		t.Errorf("%+v", l)
	}
}

// TestRedactKeepsSeriesApart has groups that differ by case only, and by forms of
// the same name: what were two series stay two.
func TestRedactKeepsSeriesApart(t *testing.T) {
	s := sample()
	for _, group := range []string{"Orders", "orders", "ORDERS", "a", "b", "12", "13", "orders/x", "orders%2Fx", "group-1", "root", "100200", "10.0.0.1", "10-0-0-1"} {
		s.Samples = append(s.Samples, Series{Labels: []model.Label{{Name: "__name__", Value: "x"}, {Name: "group", Value: group}}, T: []int64{1}, V: []float64{1}})
	}
	got, _, err := Redact(s, "", Choice{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, one := range got.Samples {
		key := fmt.Sprint(one.Labels)
		if seen[key] {
			t.Errorf("%s twice", key)
		}
		seen[key] = true
	}
}

// TestRedactNumbersFindings: the id of a finding holds a hash of what it is
// about, so that a topic could be guessed from it.
func TestRedactNumbersFindings(t *testing.T) {
	s := seeded()
	s.Report.Findings[0].ID, s.Meta.Finding = "retry-queue-cold-reads-0a1b2c3d4e5f", "retry-queue-cold-reads-0a1b2c3d4e5f"
	s.Report.Incidents = []model.Incident{{Root: s.Meta.Finding, Findings: []string{s.Meta.Finding}}}
	got, _, err := Redact(s, "", Choice{})
	if err != nil {
		t.Fatal(err)
	}
	in := got.Report.Incidents[0]
	if id := got.Report.Findings[0].ID; id != "finding-1" || in.Root != id || in.Findings[0] != id || got.Meta.Finding != id {
		t.Errorf("%s, %+v, %s", id, in, got.Meta.Finding)
	}
}

// BenchmarkRedactHostile has many names with one beginning, and texts of it.
func BenchmarkRedactHostile(b *testing.B) {
	for _, n := range []int{1000, 4000} {
		s := sample()
		for i := range n {
			topic := strings.Repeat("a", 60) + fmt.Sprint(i)
			s.Events = append(s.Events, model.Event{From: at, To: at, Kind: model.EventLog, Text: strings.Repeat(topic+"=1:2:3.4.5 /x@", 4), Attrs: map[string]string{"topic": topic}})
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, _, err := Redact(s, "", Choice{Paths: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
