package model

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

func TestReportJSON(t *testing.T) {
	at := time.Date(2026, 3, 1, 4, 12, 41, 350e6, time.FixedZone("CET", 3600))
	r := Report{
		Window:    Window{at, at},
		Findings:  []Finding{{ID: "f", Started: at}},
		Incidents: []Incident{{Root: "f", Started: at, Ended: &at}},
	}
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"window":{"from":"2026-03-01T03:12:41.350Z","to":"2026-03-01T03:12:41.350Z"},` +
		`"findings":[{"id":"f","signature":"","title":"","layer":"","severity":"","state":"","confidence":"","subject":{},` +
		`"evidence":[],"explains":[],"remedy":[],"started":"2026-03-01T03:12:41.350Z","ended":null}],` +
		`"incidents":[{"root":"f","findings":[],"started":"2026-03-01T03:12:41.350Z","ended":"2026-03-01T03:12:41.350Z"}],` +
		`"ruled_out":[],"unknown":[],"not_applicable":[],"coverage":[]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestFindingSurvivesJSON(t *testing.T) {
	at := time.Date(2026, 3, 1, 3, 12, 41, 350e6, time.UTC)
	v := 1.5
	in := Finding{
		ID: "f", Signature: "s", State: StateFiring, Subject: map[string]string{"device": "vda"}, Started: at, Ended: &at,
		Evidence: []Evidence{{Title: "e", Value: &v}}, Explains: []string{}, Remedy: []Remedy{},
	}
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out Finding
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(in, out) {
		t.Errorf("got %+v, want %+v", out, in)
	}
}
