package browsertest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"
)

// chromium is a running browser: requests out, answers and events in, each a
// JSON object that ends with a zero byte.
type chromium struct {
	cmd *exec.Cmd
	out io.WriteCloser

	mu      sync.Mutex
	lastID  int
	waiting map[int]chan message
	events  map[string]func(message) // by session
	ended   error
}

type message struct {
	ID        int             `json:"id,omitempty"`
	Method    string          `json:"method,omitempty"`
	Params    json.RawMessage `json:"params,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// start runs a browser with a fresh profile for as long as the test.
func start(t testing.TB) *chromium {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("no browser: %v (make test installs it)", err)
	}
	fromUs, toBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fromBrowser, toUs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
		"--hide-scrollbars", "--force-color-profile=srgb", "--host-resolver-rules=MAP broker-07.example 127.0.0.1", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.ExtraFiles = []*os.File{fromUs, toUs} // 3 and 4, where the browser looks for the pipe
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var noise bytes.Buffer
	cmd.Stderr = &noise
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	fromUs.Close()
	toUs.Close()
	c := &chromium{cmd: cmd, out: toBrowser, waiting: map[int]chan message{}, events: map[string]func(message){}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.listen(fromBrowser)
	}()
	t.Cleanup(func() {
		toBrowser.Close()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // its helpers too; they are one group
		_ = cmd.Wait()
		fromBrowser.Close()
		<-done
		if t.Failed() {
			t.Logf("chromium said: %s", noise.String())
		}
	})
	return c
}

// listen hands answers to who waits for them and events to their session.
func (c *chromium) listen(r io.Reader) {
	in := bufio.NewReaderSize(r, 1<<20)
	for {
		raw, err := in.ReadBytes(0)
		if err != nil {
			c.end(err)
			return
		}
		var m message
		if err := json.Unmarshal(raw[:len(raw)-1], &m); err != nil {
			c.end(err)
			return
		}
		c.mu.Lock()
		answer, event := c.waiting[m.ID], c.events[m.SessionID]
		delete(c.waiting, m.ID)
		c.mu.Unlock()
		switch {
		case m.ID != 0 && answer != nil:
			answer <- m
		case m.ID == 0 && event != nil:
			event(m)
		}
	}
}

func (c *chromium) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = err
	for id, answer := range c.waiting {
		close(answer)
		delete(c.waiting, id)
	}
}

// call sends a command and reads its result into out, which may be nil.
func (c *chromium) call(ctx context.Context, session, method string, params, out any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	answer := make(chan message, 1)
	c.mu.Lock()
	if c.ended != nil {
		c.mu.Unlock()
		return fmt.Errorf("%s: the browser has gone: %w", method, c.ended)
	}
	c.lastID++
	id := c.lastID
	c.waiting[id] = answer
	line, err := json.Marshal(message{ID: id, Method: method, Params: raw, SessionID: session})
	if err == nil {
		_, err = c.out.Write(append(line, 0))
	}
	c.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case m, ok := <-answer:
		switch {
		case !ok:
			return errors.New(method + ": the browser has gone")
		case m.Error != nil:
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		case out == nil:
			return nil
		}
		return json.Unmarshal(m.Result, out)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, context.Cause(ctx))
	}
}

// patience is how long a browser may take for one thing on a busy machine.
const patience = 60 * time.Second
