package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stallmark/collectors"
	"stallmark/collectors/files"
	"stallmark/rules"
	"stallmark/storage"
	"stallmark/storage/model"
)

const learnedText = `{"format":1,"baselines":[{"name":"usual-wait","labels":{"device":"sda"},"unit":"ms","hours":5,` +
	`"last":"2026-01-01T00:00:00Z","median":5,"p99":5,"buckets":{"9":5}}]}`

func TestBaselineSource(t *testing.T) {
	k := rules.NewBaselines()
	s, out := newBaselineSource(k), collectors.NewOut("baselines")
	beat := func(at time.Time) (names []string, err error) {
		out.Reset(at)
		err = s.Collect(nil, out)
		for _, sample := range out.Samples() {
			names = append(names, sample.Series.Get("__name__")+" "+sample.Series.Get("quantile"))
		}
		return names, err
	}
	if names, err := beat(epoch); len(names) > 0 || err == nil || !strings.Contains(err.Error(), "0 of 3") {
		t.Errorf("before anything is learned: %q, %v", names, err)
	}
	if err := k.Load([]byte(learnedText)); err != nil {
		t.Fatal(err)
	}
	names, err := beat(epoch.Add(time.Second))
	if len(names) != 5 || err != nil {
		t.Fatalf("%q, %v", names, err)
	}
	first := append([]model.Sample{}, out.Samples()...)
	if _, err := beat(epoch.Add(time.Hour)); err != nil || out.Samples()[2].Series != first[2].Series {
		t.Errorf("the series are other ones after an hour, %v", err)
	}
}

// A recording carries what the service on its host has learned.
func TestRecordingCarriesBaselines(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/baselines" {
			rw.Write([]byte(learnedText)) //nolint:errcheck // a test's own client
		}
	}))
	defer service.Close()
	listen := strings.TrimPrefix(service.URL, "http://")
	path := filepath.Join(t.TempDir(), "x.tar.zst")
	if got := runProgram(t, "record", "-o", path, "--for", "300ms", "--interval", "100ms", "--listen", listen); got.code != exitOK {
		t.Fatalf("code %d: %s", got.code, got.stderr)
	}
	rec, err := files.Open(path, files.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	var carried, want any
	if err := json.Unmarshal(rec.Meta().Baselines, &carried); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(learnedText), &want); err != nil {
		t.Fatal(err)
	}
	if a, b := mustJSON(t, carried), mustJSON(t, want); a != b {
		t.Errorf("carried %s, want %s", a, b)
	}
	got := runProgram(t, "diagnose", "--json", path)
	var r model.Report
	if err := json.Unmarshal([]byte(got.stdout), &r); err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Coverage {
		if c.Source == "baselines" && c.State != model.SourceOK {
			t.Errorf("replayed: %+v", c)
		}
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestBaselinesOfNobody(t *testing.T) {
	for name, answer := range map[string]string{"no JSON": "<html>", "another format": `{"format":9}`} {
		s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			rw.Write([]byte(answer)) //nolint:errcheck // a test's own client
		}))
		if got := baselinesOf(t.Context(), listeningAt(strings.TrimPrefix(s.URL, "http://"))); got != nil {
			t.Errorf("%s: %q is taken", name, got)
		}
		s.Close()
	}
	for _, listen := range []string{"", "nonsense", "127.0.0.1:1"} {
		if got := baselinesOf(t.Context(), listeningAt(listen)); got != nil {
			t.Errorf("%q: %q", listen, got)
		}
	}
}

// What a run has learned is there in the next one.
func TestServiceKeepsBaselines(t *testing.T) {
	host := hostTree(t)
	data := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	store, err := storage.Open(t.Context(), storage.Options{Path: dataFile(data), Now: time.Now, Child: childOf(data)})
	if err != nil {
		t.Fatal(err)
	}
	before := &service{program: &program{stderr: io.Discard}, store: store, log: slog.New(slog.DiscardHandler)}
	before.restoreBaselines(t.Context())
	if err := before.baselines.Load([]byte(learnedText)); err != nil {
		t.Fatal(err)
	}
	before.keepBaselines()
	if err := store.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := serve(t, "--procfs", filepath.Join(host, "proc"), "--sysfs", filepath.Join(host, "sys"), "--rootfs", host, "--data", data)
	if got := s.get("/api/v1/baselines"); !strings.Contains(got, "usual-wait") {
		t.Errorf("after a restart:\n%s", got)
	}
	s.quit()
}

// listeningAt are the options of a service at an address.
func listeningAt(address string) *options {
	o := newOptions()
	o.listen = address
	return o
}
