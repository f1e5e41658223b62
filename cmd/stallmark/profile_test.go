package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime/pprof"
	"strings"
	"testing"

	"stallmark/web/access"
)

// TestK8sCVE201911248ProfilesAreForThisHostAlone tries addresses that others can
// reach (kubernetes CVE-2019-11248).
func TestK8sCVE201911248ProfilesAreForThisHostAlone(t *testing.T) {
	for address, ok := range map[string]bool{
		"": true, "127.0.0.1:0": true, "localhost:6060": true, "[::1]:6060": true,
		"0.0.0.0:6060": false, ":6060": false, "192.0.2.1:6060": false, "127.0.0.1": false, "somewhere:6060": false,
		"[::]:6060": false, "localhost.evil.example:6060": false, "127.0.0.1.evil.example:6060": false, "unix:/tmp/x": false,
	} {
		if err := checkPprof(&options{pprof: address}); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// TestProfiles asks for profiles, and for what is not shown: the command line, and
// anything under a foreign name that leads here (DNS rebinding).
func TestProfiles(t *testing.T) {
	listener, err := openPprof(&options{pprof: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	admin, err := access.NewAdmin(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	go serveProfiles(listener, admin)
	if resp, err := http.Get("http://" + listener.Addr().String() + "/debug/pprof/heap"); err != nil || resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the token: %v, %v", resp, err)
	}
	base := "http://admin:" + admin.Token() + "@" + listener.Addr().String() + "/debug/pprof/"
	for path, want := range map[string]string{"": "heap", "goroutine?debug=1": "goroutine profile", "heap": "", "profile?seconds=0.01": ""} {
		resp, err := http.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || len(body) == 0 || !strings.Contains(string(body), want) {
			t.Errorf("%s: %s, %d bytes, %v; want %q", path, resp.Status, len(body), err, want)
		}
	}
	for _, refused := range [][2]string{{"none", ""}, {"cmdline", ""}, {"", "evil.example:80"}, {"heap", "127.0.0.1.evil.example:80"}, {"heap", "192.0.2.1:6060"}, {"heap", "evil.example"}} {
		path, host := refused[0], refused[1]
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			t.Errorf("%q of %q is answered", path, host)
		}
	}
}

func TestACPUProfileEndsWithItsAsker(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := httptest.NewRecorder()
	cpuProfile(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/?seconds=20", nil)) // or the test takes 20 s
	if w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Fatal(err)
	}
	defer pprof.StopCPUProfile()
	w = httptest.NewRecorder()
	cpuProfile(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil))
	if w.Code != http.StatusConflict {
		t.Errorf("a second profile at a time: %d", w.Code)
	}
}
