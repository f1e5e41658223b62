package main

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// storingChild finds the process that this one has started to keep the file.
func storingChild(t *testing.T) int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range stats {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended meanwhile
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest)
		command, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
		if len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) && strings.Contains(string(command), childName) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
	}
	t.Fatal("there is no storing process")
	return 0
}

// standsStill reports whether all threads of a process are stopped.
func standsStill(t *testing.T, pid int) bool {
	t.Helper()
	stats, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/stat")
	if err != nil || len(stats) == 0 {
		t.Fatal("the process has gone")
	}
	for _, name := range stats {
		stat, err := os.ReadFile(name)
		if err == nil && !strings.Contains(string(stat), ") T ") {
			return false
		}
	}
	return true
}

// look asks for a page and returns its status and text.
func (s *serving) look(path string) (int, string) {
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
	return resp.StatusCode, string(body)
}

// TestServeWithAStoppedChild stops the process that keeps the file, as a frozen
// disk does. Pages are made from memory and say so, sampling and verdicts go
// on, and an orderly end hands all of it to another process.
func TestServeWithAStoppedChild(t *testing.T) {
	host := hostTree(t)
	data := filepath.Join(t.TempDir(), "data")
	args := []string{"--procfs", filepath.Join(host, "proc"), "--sysfs", filepath.Join(host, "sys"), "--rootfs", host, "--data", data}
	s := serve(t, args...)                 // an earlier run, so that there is older history to ask for
	for s.covered("/api/v1/report") == 0 { // until the first beat
	}
	s.quit()
	s = serve(t, args...)
	for s.covered("/api/v1/report") == 0 {
	}
	if code, _ := s.look("/findings/NOPE"); code != http.StatusNotFound {
		t.Errorf("an unknown finding: status %d", code)
	}
	child := storingChild(t)
	if err := syscall.Kill(child, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for !standsStill(t, child) {
	}
	began := time.Now().UTC()
	earlier := "?from=" + began.Add(-time.Hour).Format(time.RFC3339Nano) + "&to=" + began.Format(time.RFC3339Nano)
	for path, lacks := range map[string]bool{"/": true, "/disks": true, "/findings": false, "/audit": false, "/status": false} {
		code, page := s.look(path + earlier)
		if code != http.StatusOK || lacks && !strings.Contains(page, "Older history does not answer") {
			t.Errorf("%s: status %d, or it does not say what is missing", path, code)
		}
		if code, _ := s.look(path); code != http.StatusOK {
			t.Errorf("%s: status %d", path, code)
		}
	}
	if code, _ := s.look("/findings/NOPE"); code != http.StatusNotFound {
		t.Errorf("an unknown finding: status %d", code)
	}
	waits := 0
	for _, line := range s.logged() {
		if strings.Contains(line, "does not answer: older history is missing") {
			waits++
		}
	}
	if waits != 1 {
		t.Errorf("the child was found stuck %d times: %q", waits, s.logged())
	}
	for newest := s.newest(); s.newest() == newest; { // beats go on
	}
	s.quit()
	ended := time.Now().UTC()

	again := serve(t, args...)
	past := "?from=" + began.Add(-10*time.Second).Format(time.RFC3339Nano) + "&to=" + ended.Format(time.RFC3339Nano)
	if again.covered("/api/v1/report"+past) == 0 {
		t.Error("what was known before is lost")
	}
	if code, page := again.look("/" + past); code != http.StatusOK || strings.Contains(page, "No data") {
		t.Errorf("status %d, or samples of while the child was stopped are lost", code)
	}
	again.quit()
}

// newest is the time of the newest beat as the status has it, by the second.
func (s *serving) newest() string {
	s.t.Helper()
	_, rest, ok := strings.Cut(s.get("/status"), "Newest sample")
	if !ok {
		s.t.Fatal("the status does not say which sample is the newest")
	}
	text, _, _ := strings.Cut(rest, " UTC")
	return text
}

// TestSecondInstance starts the program on a data folder that another one has
// open: it says so, once, and ends.
func TestSecondInstance(t *testing.T) {
	host := hostTree(t)
	data := filepath.Join(t.TempDir(), "data")
	args := []string{"--procfs", filepath.Join(host, "proc"), "--sysfs", filepath.Join(host, "sys"), "--rootfs", host, "--data", data}
	first := serve(t, args...)
	cmd := exec.Command(os.Args[0], append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Env = append(os.Environ(), beStallmark+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != exitUsage {
		t.Errorf("it ends with %v", err)
	}
	if text := string(out); strings.Count(text, "in use") != 1 || !strings.Contains(text, data) || strings.Count(text, "\n") != 1 {
		t.Errorf("it says %q", text)
	}
	first.quit()
}
