package main

import (
	"net"
	"net/netip"
)

// checkListen refuses an address that others can reach: there is no
// authentication yet.
func checkListen(o *options) error {
	host, port, err := net.SplitHostPort(o.listen)
	if err != nil || port == "" {
		return usagef("--listen %s: want HOST:PORT", o.listen)
	}
	if isLoopback(host) || o.insecureListen {
		return nil
	}
	return usagef("--listen %s: others can reach this address, and the page has no authentication yet (it will come in a later version). "+
		"Listen on 127.0.0.1 and use ssh -L, or say --insecure-listen to show this host to everybody who can connect", o.listen)
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
// everywhere, its addresses are the visitor's to name.
func allowedHosts(listen, hostname string) []string {
	host, _, err := net.SplitHostPort(listen)
	if err != nil || isLoopback(host) {
		return nil
	}
	hosts := []string{hostname}
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
