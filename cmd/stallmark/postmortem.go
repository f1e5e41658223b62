package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"stallmark/collectors"
	"stallmark/rules/postmortem"
	"stallmark/storage/model"
)

// answerTimeout is how long the running service may take.
const answerTimeout = 15 * time.Second

// maxAnswer bounds what is taken of it, in bytes.
const maxAnswer = 16 << 20

func postmortemCommand() command {
	return command{
		name:    "postmortem",
		args:    "[ID]",
		summary: "Print an incident of the running service as Markdown",
		help: `
Asks the service on this host (--listen) and prints what happened when, the
evidence, what was ruled out, which settings were changed with what came of it,
and the advice. ID is that of a finding; its whole incident is printed. Without
ID it is the worst incident of the last 24 hours. For a recording or without a
service: stallmark diagnose --markdown.
Exit codes: 0 printed; 1 there is no incident; 2 usage, or no service answers.`,
		run: runPostmortem,
	}
}

func runPostmortem(ctx context.Context, p *program, o *options, args []string) (int, error) {
	if len(args) > 1 {
		return exitUsage, usagef("postmortem: one ID at most")
	}
	id := ""
	if len(args) == 1 {
		id = args[0]
	} else {
		body, err := askService(ctx, o, "/api/v1/report?range=24h")
		if err != nil {
			return exitUsage, err
		}
		var r model.Report
		if err := json.Unmarshal(body, &r); err != nil {
			return exitUsage, fmt.Errorf("the service's report: %w", err)
		}
		if len(r.Incidents) == 0 {
			fmt.Fprintln(p.stderr, "no incident in the last 24 hours")
			return exitFound, nil
		}
		id = r.Incidents[0].Root
	}
	text, err := askService(ctx, o, "/api/v1/incidents/"+url.PathEscape(id)+"/postmortem")
	if errors.Is(err, errNoSuch) {
		fmt.Fprintf(p.stderr, "there is no finding with the id %s\n", oneLine(id))
		return exitFound, nil
	}
	if err != nil {
		return exitUsage, err
	}
	_, err = p.stdout.Write(text)
	return exitOK, err
}

// errNoSuch is that the service knows nothing of it.
var errNoSuch = errors.New("not found")

// askService gets a path of the service that runs on this host, if it is one whose
// word counts.
func askService(ctx context.Context, o *options, path string) ([]byte, error) {
	listen := o.listen
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, usagef("--listen %s: want HOST:PORT", listen)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+path, nil)
	if err != nil {
		return nil, err
	}
	// Never by a proxy: this is about the host itself.
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, DialContext: dialTrusted(collectors.NewLiveRoot(o.paths), o.trustedUsers()),
	}}
	answer, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("no service answers at %s: %w", oneLine(listen), err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	switch {
	case answer.StatusCode == http.StatusNotFound:
		return nil, errNoSuch
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("the service at %s says %s", oneLine(listen), oneLine(answer.Status))
	}
	return body, err
}

// markdown writes what an analysis has found.
func (a *analysis) markdown(ctx context.Context, p *program, host string, r model.Report) (string, error) {
	events, err := a.store.EventsIn(ctx, a.first, a.last)
	if err != nil {
		return "", err
	}
	about := postmortem.About{Host: host, Version: p.version, Now: a.last, Interval: a.interval}
	return postmortem.All(ctx, a.engine.Query(), about, r, events)
}
