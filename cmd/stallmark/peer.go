package main

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"stallmark/collectors"
)

// The port of the service is free while it does not run, and any user of this host
// may listen there. So before a token is sent there, or what comes from there is
// believed, it is asked whose the listener is (atop's CVE-2025-31160 is of this
// kind). The kernel's list of sockets tells the user; the list is read after the
// connection was made, so that it is about who has accepted it.

// dialer is how an address is connected to.
type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// dialTrusted connects to an address and gives the connection up unless everybody
// who listens there may be trusted.
func dialTrusted(root collectors.Root, trusted []uint32) dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		c, err := d.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		to, err := netip.ParseAddrPort(c.RemoteAddr().String())
		if err == nil {
			err = checkListener(root, to, trusted)
		}
		if err != nil {
			c.Close()
			return nil, err
		}
		return c, nil
	}
}

// errStranger says that a listener is nobody's who may be asked.
var errStranger = errors.New("not asked")

// checkListener fails unless an address has a listener and each is of a trusted user.
func checkListener(root collectors.Root, to netip.AddrPort, trusted []uint32) error {
	var found bool
	for _, name := range []string{"proc/net/tcp", "proc/net/tcp6"} {
		data, err := root.Read(name, nil)
		if err != nil {
			continue // without IPv6 there is no second
		}
		for line := range strings.Lines(string(data)) {
			at, uid, ok := listenerOf(line)
			if !ok || at.Port() != to.Port() || at.Addr() != to.Addr().Unmap() && !at.Addr().IsUnspecified() {
				continue
			}
			if found = true; !slices.Contains(trusted, uid) {
				return fmt.Errorf("user %d listens there, who is neither root nor this user nor the owner of the data folder: %w", uid, errStranger)
			}
		}
	}
	if !found {
		return fmt.Errorf("whose the listener at %s is cannot be told from the kernel's list of sockets: %w", to, errStranger)
	}
	return nil
}

// listening is the state TCP_LISTEN (include/net/tcp_states.h).
const listening = "0A"

// listenerOf reads a row of /proc/net/tcp or tcp6: number, local address, remote
// address, state, queues, timer, retransmits, uid (net/ipv4/tcp_ipv4.c,
// get_tcp4_sock). ok is false for one that is no listener.
func listenerOf(row string) (at netip.AddrPort, uid uint32, ok bool) {
	words := strings.Fields(row)
	if len(words) < 8 || words[3] != listening {
		return at, 0, false
	}
	address, port, _ := strings.Cut(words[1], ":")
	ip, ok := kernelAddress(address)
	n, err := strconv.ParseUint(port, 16, 16)
	user, err2 := strconv.ParseUint(words[7], 10, 32)
	return netip.AddrPortFrom(ip, uint16(n)), uint32(user), ok && err == nil && err2 == nil
}

// kernelAddress reads an address as the kernel prints it: words of 32 bits in the
// order of this machine.
func kernelAddress(s string) (netip.Addr, bool) {
	raw, err := hex.DecodeString(s)
	if err != nil || len(raw) != 4 && len(raw) != 16 {
		return netip.Addr{}, false
	}
	for i := 0; i < len(raw); i += 4 {
		binary.NativeEndian.PutUint32(raw[i:], binary.BigEndian.Uint32(raw[i:]))
	}
	ip, ok := netip.AddrFromSlice(raw)
	return ip.Unmap(), ok
}

// trustedUsers are those whose service is asked: root, this user, and the owners of
// the data folder and of the one that an installed service has, which only root can
// have made for them.
func (o *options) trustedUsers() []uint32 {
	list := []uint32{0, uint32(os.Geteuid())}
	for _, dir := range []string{o.data, installedData} {
		var st unix.Stat_t
		if dir != "" && unix.Lstat(dir, &st) == nil {
			list = append(list, st.Uid)
		}
	}
	return list
}
