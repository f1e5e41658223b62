package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"stallmark/collectors"
	"stallmark/web/access"
)

// createSnapshot asks the running service: it alone has what is in memory.
func (p *program) createSnapshot(ctx context.Context, o *options) error {
	form, err := p.spanOf(o)
	if err != nil {
		return err
	}
	admin, err := access.ReadAdmin(o.data)
	if err != nil {
		return fmt.Errorf("the admin token of the service: %w; is --data the folder of the running service, and may this user read it?", err)
	}
	guard, err := o.loadWebConfig()
	if err != nil {
		return err
	}
	base, client, err := serviceClient(o.listen, guard, dialTrusted(collectors.NewLiveRoot(o.paths), o.trustedUsers()))
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/api/v1/snapshots", strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "Bearer "+admin.Token())
	resp, err := client.Do(r)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err
		}
		hint := "is \"stallmark serve\" running?"
		if errors.Is(err, errStranger) {
			hint = "are --data and --listen those of the running service?"
		}
		return fmt.Errorf("the service at %s: %w; %s", base, err, hint)
	}
	defer resp.Body.Close()
	return p.created(o, base, resp)
}

// serviceClient is how the service on this machine is asked, and under what
// address. A service that listens everywhere is asked by the loopback address; of
// one with TLS the certificate in its own file is wanted, whatever name it has.
func serviceClient(listen string, guard *access.Config, dial dialer) (base string, client *http.Client, err error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", nil, usagef("--listen %s: want HOST:PORT", listen)
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	base = "http://" + net.JoinHostPort(host, port)
	client = &http.Client{Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	client.Transport = &http.Transport{DialContext: dial}
	if guard.TLS == nil {
		return base, client, nil
	}
	pair, err := tls.LoadX509KeyPair(guard.TLS.CertFile, guard.TLS.KeyFile)
	if err != nil {
		return "", nil, err
	}
	client.Transport = &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair},
		InsecureSkipVerify: true, // the name is not checked; the certificate itself is
		VerifyConnection: func(state tls.ConnectionState) error {
			if len(state.PeerCertificates) == 0 || !bytes.Equal(state.PeerCertificates[0].Raw, pair.Certificate[0]) {
				return errors.New("its certificate is not the one in the web configuration file")
			}
			return nil
		},
	}}
	return "https" + strings.TrimPrefix(base, "http"), client, nil
}

// created prints what the service has answered.
func (p *program) created(o *options, base string, resp *http.Response) error {
	var answer struct {
		ID    string `json:"id"`
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err == nil {
		err = json.Unmarshal(data, &answer)
	}
	switch {
	case resp.StatusCode != http.StatusOK && answer.Error.Message != "":
		return errors.New(oneLine(answer.Error.Message))
	case err != nil || resp.StatusCode != http.StatusOK:
		return fmt.Errorf("the service at %s answered %s", base, resp.Status)
	case o.json:
		_, err = p.stdout.Write(data)
		return err
	}
	_, err = fmt.Fprintln(p.stdout, oneLine(answer.ID))
	fmt.Fprintf(p.stderr, "look at it, share or redact it: %s/snapshots/%s\n", base, oneLine(answer.ID))
	return err
}

// spanOf is the time that create freezes.
func (p *program) spanOf(o *options) (url.Values, error) {
	to := p.now()
	from := to.Add(-o.duration)
	for _, one := range []struct {
		name, text string
		into       *time.Time
	}{{"from", o.from, &from}, {"to", o.to, &to}} {
		if one.text == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339, one.text)
		if err != nil {
			return nil, usagef("--%s %s: want a time as in 2026-03-01T03:12:41Z", one.name, one.text)
		}
		*one.into = at
	}
	return url.Values{"from": {strconv.FormatInt(from.UnixMilli(), 10)}, "to": {strconv.FormatInt(to.UnixMilli(), 10)}}, nil
}
