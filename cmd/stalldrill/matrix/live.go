package matrix

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"stallmark/cmd/stalldrill/drill"
	"stallmark/storage/model"
)

// Live says how recorders are started.
type Live struct {
	Program string        // the stallmark binary
	Dir     string        // where data folders are made
	Keep    string        // where recordings are kept
	Record  time.Duration // also record for as long as that; 0: not
	Warm    time.Duration // how long a recorder watches before the drill
	Errors  io.Writer     // takes what it says on standard error
}

// live is one running recorder.
type live struct {
	folder    string
	url       string
	serve     *exec.Cmd
	record    *exec.Cmd // nil without a recording
	recording string
	keepAs    string
}

// stopPatience is more than the recorder promises to stop in.
const stopPatience = 10 * time.Second

var pageURL = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// Start starts a recorder with an empty data folder of its own.
func (c Live) Start(ctx context.Context, mode string) (Recorder, error) {
	folder, err := os.MkdirTemp(c.Dir, "matrix-")
	if err != nil {
		return nil, err
	}
	l := &live{folder: folder, keepAs: filepath.Join(c.Keep, fmt.Sprintf("%s-%s.tar.zst", mode, time.Now().UTC().Format("150405")))}
	if err := l.start(c); err != nil {
		_, stopErr := l.Stop(false)
		return nil, errors.Join(err, stopErr)
	}
	wait(ctx, c.Warm)
	return l, nil
}

func (l *live) start(c Live) error {
	l.serve = exec.Command(c.Program, "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(l.folder, "data"), "--watch", drill.VictimName)
	l.serve.Stderr = c.Errors
	out, err := l.serve.StdoutPipe()
	if err != nil {
		return err
	}
	if err := l.serve.Start(); err != nil {
		return err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if l.url = pageURL.FindString(line); l.url == "" {
		return fmt.Errorf("the recorder does not say where its page is: %q, %w", line, errors.Join(err, errNoPage))
	}
	if c.Record <= 0 {
		return nil
	}
	l.recording = l.keepAs + ".partial"
	l.record = exec.Command(c.Program, "record", "-o", l.recording, "--for", c.Record.String(), "--watch", drill.VictimName)
	return l.record.Start()
}

var errNoPage = errors.New("no page")

// Report implements Recorder.
func (l *live) Report(ctx context.Context, from, to time.Time) (r model.Report, err error) {
	limited, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	query := url.Values{"from": {from.UTC().Format(time.RFC3339)}, "to": {to.UTC().Add(time.Second).Format(time.RFC3339)}}
	request, err := http.NewRequestWithContext(limited, http.MethodGet, l.url+"/api/v1/report?"+query.Encode(), nil)
	if err != nil {
		return r, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return r, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 500))
		return r, fmt.Errorf("the recorder answers %s: %s", answer.Status, text)
	}
	return r, json.NewDecoder(answer.Body).Decode(&r)
}

// Stop implements Recorder.
func (l *live) Stop(keep bool) (kept string, err error) {
	err = errors.Join(stop(l.record), stop(l.serve))
	switch {
	case l.recording == "":
	case keep:
		kept = l.keepAs
		err = errors.Join(err, os.Rename(l.recording, kept))
	default:
		err = errors.Join(err, os.Remove(l.recording))
	}
	return kept, errors.Join(err, os.RemoveAll(l.folder))
}

// stop ends a process in an orderly way, or at once if it takes too long.
func stop(cmd *exec.Cmd) error {
	if cmd == nil || cmd.Process == nil {
		return nil
	}
	_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself
	late := time.AfterFunc(stopPatience, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	err := cmd.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); exited && cmd.ProcessState.ExitCode() > 0 {
		return fmt.Errorf("%s: %w", cmd.Args[1], err)
	}
	return nil
}
