package main

import (
	"net"
	"net/netip"
	"sync"
)

// maxOfAddress bounds the connections of one address, a quarter of all: whoever
// opens more is one client, and others must get in beside it. Connections of this
// host itself are not counted: a proxy or ssh -L brings everybody from there, and
// who is on the host can do more harm than that.
const maxOfAddress = maxConnections / 4

// perAddress is a listener that closes at once what an address opens beyond its
// bound.
type perAddress struct {
	net.Listener
	most int

	mu   sync.Mutex
	open map[netip.Prefix]int
}

func newPerAddress(l net.Listener, most int) *perAddress {
	return &perAddress{Listener: l, most: most, open: map[netip.Prefix]int{}}
}

// Accept implements [net.Listener].
func (l *perAddress) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from, counted := clientOf(c.RemoteAddr())
		if !counted {
			return c, nil
		}
		if l.enter(from) {
			return &countedConn{Conn: c, leave: sync.OnceFunc(func() { l.leave(from) })}, nil
		}
		c.Close()
	}
}

// clientOf is what counts as one client: an address of IPv4, or a /64 of IPv6, of
// which one machine may have all.
func clientOf(a net.Addr) (netip.Prefix, bool) {
	at, err := netip.ParseAddrPort(a.String())
	if err != nil || at.Addr().Unmap().IsLoopback() {
		return netip.Prefix{}, false
	}
	ip, bits := at.Addr().Unmap().WithZone(""), 32
	if ip.Is6() {
		bits = 64
	}
	prefix, err := ip.Prefix(bits)
	return prefix, err == nil
}

func (l *perAddress) enter(from netip.Prefix) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[from] >= l.most {
		return false
	}
	l.open[from]++
	return true
}

func (l *perAddress) leave(from netip.Prefix) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[from]--; l.open[from] == 0 {
		delete(l.open, from)
	}
}

// countedConn is a connection that is counted until it is closed.
type countedConn struct {
	net.Conn
	leave func()
}

// Close implements [net.Conn].
func (c *countedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
