package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"stallmark/storage/model"
)

// recorder is Stallmark beside a broker.
type recorder struct {
	c    *child
	base string
}

var pageURL = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// record starts `serve` with an empty data folder, and without any configuration but for the logs of RocketMQ's clients, which nobody can find.
func record(ctx context.Context, o options, b *broker) (*recorder, error) {
	args := []string{"serve", "--listen", "127.0.0.1:0", "--data", b.in("data"), "--no-auto-snapshots"}
	if b.product == "rocketmq" {
		args = append(args, "--log", b.in("client", "logs", "rocketmqlogs", "*.log"))
	}
	if o.rules != "" {
		args = append(args, "--rules", o.rules)
	}
	c, err := start(b.in("stallmark.out"), b.folder, nil, o.stallmark, args...)
	if err != nil {
		return nil, err
	}
	r := &recorder{c: c}
	for range 100 {
		text, _ := os.ReadFile(b.in("stallmark.out"))
		if r.base = pageURL.FindString(string(text)); r.base != "" {
			return r, nil
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil || c.ended() {
			break
		}
	}
	c.stop(time.Second)
	return nil, fmt.Errorf("serve does not say where its page is; see %s", b.in("stallmark.out"))
}

// ask decodes what a path of the API answers.
func (r *recorder) ask(ctx context.Context, path string, query url.Values, into any) error {
	limited, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(limited, http.MethodGet, r.base+path+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 300))
		return fmt.Errorf("%s: %s: %s", path, answer.Status, text)
	}
	return json.NewDecoder(answer.Body).Decode(into)
}

// report is the verdict of a window, of ten seconds at least.
func (r *recorder) report(ctx context.Context, from, to time.Time) (rep model.Report, err error) {
	if shortest := to.Add(-10 * time.Second); from.After(shortest) {
		from = shortest
	}
	query := url.Values{"from": {from.UTC().Format(time.RFC3339)}, "to": {to.UTC().Add(time.Second).Format(time.RFC3339)}}
	return rep, r.ask(ctx, "/api/v1/report", query, &rep)
}

// tape makes a recording of a trial where that is wanted, until stop is called, and a small copy of it.
func (b *bench) tape(trial string) (stop func() error, err error) {
	if !b.o.record {
		return func() error { return nil }, nil
	}
	whole := b.in(trial + ".whole.tar.zst")
	c, err := start(b.in("record.out"), b.folder, nil, b.o.stallmark, "record", "-o", whole, "--for", "10m", "--listen", strings.TrimPrefix(b.r.base, "http://"))
	if err != nil {
		return nil, err
	}
	pid, from := strconv.Itoa(b.main.pid()), time.Now()
	groups := b.groups(pid)
	return func() error {
		c.stop(10 * time.Second)
		if _, err := os.Stat(whole); err != nil {
			return nil // the case was over before it had begun
		}
		tr := trimmer{pid: pid, from: from.Add(-time.Second), to: time.Now(), names: strings.NewReplacer(append(groups, b.folder, "/srv/"+b.product, b.o.dir, "/srv")...)}
		return tr.trim(whole, b.in(trial+".tar.zst"))
	}, nil
}

// groups are the control groups of a process, to be called by another name: its own, and the one that all of this was started in.
func (b *bench) groups(pid string) (names []string) {
	if b.group.folder != "" {
		names = []string{"/" + filepath.Base(b.group.folder), "/broker"}
	}
	text, _ := os.ReadFile("/proc/" + pid + "/cgroup") // without it the names stay
	for line := range strings.Lines(string(text)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) == 3 && len(part[2]) > 1 && !slices.Contains(names, part[2]) {
			names = append(names, part[2], "/session")
		}
	}
	return names
}
