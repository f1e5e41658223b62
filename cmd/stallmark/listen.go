package main

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"stallmark/web/access"
)

// loadWebConfig reads the web configuration file, if one is named.
func (o *options) loadWebConfig() (*access.Config, error) {
	if o.webConfig == "" {
		return &access.Config{}, nil
	}
	c, err := access.Load(o.webConfig)
	if err != nil {
		return nil, usagef("--web-config: %w", err)
	}
	return c, nil
}

// checkListen refuses an address that others can reach unless somebody asks
// them who they are.
func checkListen(o *options, guard *access.Config) error {
	host, port, err := net.SplitHostPort(o.listen)
	if err != nil || port == "" {
		return usagef("--listen %s: want HOST:PORT", o.listen)
	}
	if isLoopback(host) || guard.Guards() || o.insecureListen {
		return nil
	}
	return usagef("--listen %s: others can reach this address. Give a --web-config FILE with users (and TLS), "+
		"or listen on 127.0.0.1 and use ssh -L, or say --insecure-listen to show this host to everybody who can connect", o.listen)
}

// checkExternal wants an address that a browser can open.
func checkExternal(o *options) error {
	if o.externalURL == "" {
		return nil
	}
	u, err := url.Parse(o.externalURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
		return usagef("--external-url %s: want http://HOST or https://HOST, with a port perhaps", o.externalURL)
	}
	return nil
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// allowedHosts are the names by which the page may be asked for besides the
// loopback ones: the host's own and the address it listens on. When it listens
// everywhere, its addresses are the visitor's to name. The name in the external
// address is allowed too.
func allowedHosts(listen, hostname, external string) []string {
	var hosts []string
	if u, err := url.Parse(external); err == nil && u.Hostname() != "" {
		hosts = append(hosts, u.Hostname())
	}
	host, _, err := net.SplitHostPort(listen)
	if err != nil || isLoopback(host) {
		return hosts
	}
	hosts = append(hosts, hostname)
	if ip, err := netip.ParseAddr(host); host != "" && (err != nil || !ip.IsUnspecified()) {
		return append(hosts, host)
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return hosts
	}
	for _, a := range addrs {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil {
			hosts = append(hosts, prefix.Addr().String())
		}
	}
	return hosts
}
