package snapshot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"stallmark/storage/model"
)

// marked are texts that must not be left in a redacted snapshot.
var marked = []string{
	"10.42.7.13", "192.168.200.9", "2001:db8::beef:1", "broker-07", "mq-prod-3.corp.example.com",
	"orders-secret-topic", "billing-group", "alice@example.com", "0A2A070D00002A9F0000000000012345", "C0A8C809007B2A139A5528C0D6620000", "MSGKEY-778899",
	"rmq-user-jane", "zq",
}

// seeded is a snapshot with every marked text in every kind of place.
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
	text := "[NOTIFYME]putMessage in lock cost time(ms)=900, " + strings.Join(marked, " , ") + " %RETRY%billing-group orders-secret-topic_dlq user=rmq-user-jane keys=MSGKEY-778899"
	s.Events = []model.Event{{
		From: at, To: at, Kind: model.EventLog, Source: "logs", Text: text,
		Attrs: map[string]string{"topic": "orders-secret-topic", "group": "billing-group", "address": "10.42.7.13", "user": "rmq-user-jane", "keys": "MSGKEY-778899", "msgid": "0A2A070D00002A9F0000000000012345"},
	}}
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
	for _, m := range marked {
		if !bytes.Contains(before, []byte(m)) {
			t.Fatalf("%s is not even in the original", m)
		}
	}
	got, replaced, err := Redact(seeded(), strings.Repeat("a", 64), Choice{Paths: true})
	if err != nil {
		t.Fatal(err)
	}
	after := bytes.ToLower(layers(t, got))
	for _, m := range append(marked, "jane", "billing", "/home/") {
		if i := bytes.Index(after, bytes.ToLower([]byte(m))); i >= 0 {
			t.Errorf("%s is left: ...%s...", m, after[max(0, i-60):min(len(after), i+60)])
		}
	}
	if !got.Meta.Redacted || got.Meta.Parent != strings.Repeat("a", 64) || len(replaced) < len(marked)-2 {
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

func FuzzRedact(f *testing.F) {
	f.Add("user=jane topic=orders 10.0.0.1", "orders")
	f.Fuzz(func(t *testing.T, text, topic string) {
		s := sample()
		s.Events[0].Text = text
		s.Events[0].Attrs = map[string]string{"topic": topic}
		got, _, err := Redact(s, "", Choice{Paths: true})
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := Redact(got, "", Choice{Paths: true})
		if err != nil {
			t.Fatal(err)
		}
		_ = again
	})
}
