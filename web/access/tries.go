package access

import (
	"net/netip"
	"sync"
	"time"
)

// maxAddresses bounds the addresses whose tries are counted.
const maxAddresses = 4096

// tries lets an address have burst tries at once and one more each interval.
type tries struct {
	now   func() time.Time
	every time.Duration
	burst int

	mu   sync.Mutex
	full map[string]time.Time // when an address has all its tries again
}

// allow counts a try of an address, which may have a port.
func (t *tries) allow(remote string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	key, now := network(remote), t.now()
	if len(t.full) >= maxAddresses {
		t.forget(now)
	}
	full := t.full[key]
	if full.Before(now) {
		full = now
	}
	if full.Sub(now) > time.Duration(t.burst-1)*t.every {
		return false
	}
	t.full[key] = full.Add(t.every)
	return true
}

// forget drops the addresses that have all their tries; if all are trying, all.
func (t *tries) forget(now time.Time) {
	for key, full := range t.full {
		if full.Before(now) {
			delete(t.full, key)
		}
	}
	if len(t.full) >= maxAddresses {
		clear(t.full)
	}
}

// network is what one visitor has of addresses: one of IPv4, a /64 of IPv6.
func network(remote string) string {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return ""
	}
	ip := at.Addr().Unmap().WithZone("")
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	prefix, err := ip.Prefix(bits)
	if err != nil {
		return ""
	}
	return prefix.String()
}
