package main

import (
	"encoding/binary"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"stallmark/collectors"
)

const sockets4 = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:20DB 00000000:0000 0A 00000000:00000000 00:00000000 00000000   998        0 81231 1 0000000000000000 100 0 0 10 0
   1: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1001        0 81232 1 0000000000000000 100 0 0 10 0
   2: 0100007F:A001 0100007F:20DB 01 00000000:00000000 00:00000000 00000000  1001        0 81233 1 0000000000000000 100 0 0 10 0
   3: 00000000:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 81234 1 0000000000000000 100 0 0 10 0
`

const sockets6 = `  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000001000000:20DC 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000   998        0 81235 1 0000000000000000 100 0 0 10 0
   1: 00000000000000000000000000000000:1F91 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  1001        0 81236 1 0000000000000000 100 0 0 10 0
`

// TestAtopCVE202531160WhoListensIsAsked has listeners of several users: what is not
// root's, this user's or the service's is not asked (atop CVE-2025-31160).
func TestAtopCVE202531160WhoListensIsAsked(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("the lists are of a little-endian machine")
	}
	root := &collectors.MapRoot{Files: map[string][]byte{"proc/net/tcp": []byte(sockets4), "proc/net/tcp6": []byte(sockets6)}}
	trusted := []uint32{0, 1000, 998}
	for address, want := range map[string]string{
		"127.0.0.1:8411":       "",
		"[::ffff:7f00:1]:8411": "",
		"[::1]:8412":           "",
		"127.0.0.1:8080":       "user 1001 listens there",
		"127.0.0.1:8081":       "user 1001 listens there", // on all addresses of IPv6, which has those of IPv4
		"127.0.0.1:9999":       "cannot be told",
		"192.0.2.1:8411":       "cannot be told",
	} {
		err := checkListener(root, netip.MustParseAddrPort(address), trusted)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
	if err := checkListener(&collectors.MapRoot{}, netip.MustParseAddrPort("127.0.0.1:8411"), trusted); err == nil {
		t.Error("believed without a list of sockets")
	}
}

// TestStrangerGetsNoToken has a service of another user: nothing is sent to it.
func TestStrangerGetsNoToken(t *testing.T) {
	asked := false
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer server.Close()
	root := collectors.NewLiveRoot(newOptions().paths)
	client := http.Client{Transport: &http.Transport{DialContext: dialTrusted(root, []uint32{1 << 31})}}
	if resp, err := client.Get(server.URL); err == nil {
		resp.Body.Close()
		t.Error("a stranger was asked")
	}
	if asked {
		t.Error("a stranger was sent something")
	}
	client.Transport = &http.Transport{DialContext: dialTrusted(root, newOptions().trustedUsers()), DisableKeepAlives: true}
	resp, err := client.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

func FuzzListenerOf(f *testing.F) {
	for line := range strings.Lines(sockets4 + sockets6) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, row string) {
		if at, _, ok := listenerOf(row); ok && !at.IsValid() {
			t.Errorf("%q gives no address", row)
		}
	})
}
