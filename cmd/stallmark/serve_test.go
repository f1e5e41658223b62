package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/collectors"
	"stallmark/collectors/files"
)

// hostTree writes a tick of a capture as files, so that serve has the same host
// on every machine.
func hostTree(t *testing.T) string {
	t.Helper()
	rec, err := files.Open(capturePath("m_idle"), files.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	dir := t.TempDir()
	for tick, err := range rec.Ticks() {
		if err != nil {
			t.Fatal(err)
		}
		copyTree(t, tick.Root, "proc", dir)
		break
	}
	return dir
}

func copyTree(t *testing.T, root collectors.Root, name, dir string) {
	t.Helper()
	list, err := root.ReadDir(name)
	if err != nil {
		data, err := root.Read(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, child := range list {
		copyTree(t, root, name+"/"+child, dir)
	}
}

// serving is a running "stallmark serve" in this process.
type serving struct {
	t    *testing.T
	url  string
	stop context.CancelFunc
	done chan int
	log  *logLines
}

// logLines keeps what is logged.
type logLines struct {
	mu    sync.Mutex
	lines []string
}

// Write implements io.Writer.
func (l *logLines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(b))
	return len(b), nil
}

func (s *serving) logged() []string {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return slices.Clone(s.log.lines)
}

// serve starts the service on a free port and waits for its greeting.
func serve(t *testing.T, args ...string) *serving {
	t.Helper()
	return serveWith(t, nil, args...)
}

// serveWith starts the service with a source of SIGHUPs.
func serveWith(t *testing.T, hangups <-chan os.Signal, args ...string) *serving {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	s := &serving{t: t, stop: cancel, done: make(chan int, 1), log: &logLines{}}
	p := &program{version: "v0-test", stdout: w, stderr: s.log, now: time.Now, screen: screen{width: 100}, hangups: hangups}
	go func() {
		s.done <- p.run(ctx, append([]string{"serve", "--listen", "127.0.0.1:0", "--interval", "100ms"}, args...))
		w.Close()
	}()
	t.Cleanup(cancel)
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if _, url, ok := strings.Cut(lines.Text(), ": http://"); ok {
			s.url = "http://" + url
			break
		}
	}
	if s.url == "" {
		t.Fatalf("no greeting; exit code %d", <-s.done)
	}
	go io.Copy(io.Discard, r) //nolint:errcheck // the rest of the greeting
	return s
}

// get fetches a page and returns its body.
func (s *serving) get(path string) string {
	s.t.Helper()
	resp, err := http.Get(s.url + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %s\n%s", path, resp.Status, body)
	}
	return string(body)
}

// covered is how many sources a report has something to say of.
func (s *serving) covered(path string) int {
	s.t.Helper()
	var report struct {
		Coverage []struct{ Source, State string }
	}
	if err := json.Unmarshal([]byte(s.get(path)), &report); err != nil {
		s.t.Fatal(err)
	}
	return len(report.Coverage)
}

func (s *serving) quit() {
	s.t.Helper()
	s.stop()
	if code := <-s.done; code != exitOK {
		s.t.Errorf("exit code %d", code)
	}
}

// checkPrivate fails if anything below a folder is open to others, or a file that
// must be there is not.
func checkPrivate(t *testing.T, dir, want string) {
	t.Helper()
	found := false
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		found = found || d.Name() == want
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v; others may read it", path, info.Mode())
		}
		return err
	})
	if err != nil || !found {
		t.Errorf("%s in %s: found %v, %v", want, dir, found, err)
	}
}

func TestServe(t *testing.T) {
	before := unix.Umask(0) // files are closed whatever it is (below CVE-2025-27591)
	defer unix.Umask(before)
	host := hostTree(t)
	data := filepath.Join(t.TempDir(), "data")
	args := []string{"--procfs", filepath.Join(host, "proc"), "--sysfs", filepath.Join(host, "sys"), "--rootfs", host, "--data", data}

	began := time.Now().UTC()
	s := serve(t, args...)
	if page := s.get("/"); !strings.Contains(page, "<html") {
		t.Errorf("the page:\n%s", page)
	}
	for s.covered("/api/v1/report") == 0 { // until the first beat
	}
	s.get("/api/v1/status")
	s.quit()
	ended := time.Now().UTC()

	info, err := os.Stat(data)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("data folder: %v, %v", info.Mode(), err)
	}
	checkPrivate(t, data, "admin-token")

	again := serve(t, args...)
	past := "/api/v1/report?from=" + began.Add(-10*time.Second).Format(time.RFC3339Nano) + "&to=" + ended.Format(time.RFC3339Nano)
	if again.covered(past) == 0 {
		t.Error("what the first run knew is lost after a restart")
	}
	again.quit()
}
