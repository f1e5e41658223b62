package main

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener of connections that need no network, so that their time is
// the test's.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// watched is a connection that tells when it was closed.
type watched struct {
	net.Conn
	once   sync.Once
	closed chan struct{}
}

func (w *watched) Close() error {
	w.once.Do(func() { close(w.closed) })
	return w.Conn.Close()
}

// TestPCPCVE20123421SlowClients has visitors that send or read slowly, or not at
// all (PCP CVE-2012-3421): each is cut off in its time.
func TestPCPCVE20123421SlowClients(t *testing.T) {
	const head = " / HTTP/1.1\r\nHost: localhost\r\n"
	for name, tt := range map[string]struct {
		sends  string
		drips  string        // sent again and again, once a second
		reads  bool          // what is answered
		within time.Duration // it is cut off
	}{
		"silent":            {"", "", true, 5 * time.Second},
		"head in pieces":    {"GET" + head, "X: y\r\n", true, 5 * time.Second},
		"body in pieces":    {"POST" + head + "Content-Length: 1000\r\n\r\n", "x", true, 10 * time.Second},
		"chunks in pieces":  {"POST" + head + "Transfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", true, 10 * time.Second},
		"reads nothing":     {"GET" + head + "\r\n", "", false, 30 * time.Second},
		"asks nothing else": {"GET" + head + "\r\n", "", true, 60 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := boundedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if _, err := io.Copy(io.Discard, r.Body); err == nil {
						_, _ = io.WriteString(w, strings.Repeat("x", 1<<20))
					}
				}))
				listener := make(pipes, 1)
				defer close(listener)
				go server.Serve(listener) //nolint:errcheck // until the listener is closed
				theirs, ours := net.Pipe()
				conn := &watched{Conn: ours, closed: make(chan struct{})}
				listener <- conn
				if tt.reads {
					go io.Copy(io.Discard, theirs) //nolint:errcheck // until it is cut off
				}
				began := time.Now()
				var visitor sync.WaitGroup
				visitor.Go(func() { drip(theirs, tt.sends, tt.drips) })
				<-conn.closed
				if took := time.Since(began); took > tt.within+time.Second {
					t.Errorf("cut off after %v, want %v", took, tt.within)
				}
				theirs.Close()
				visitor.Wait()
			})
		})
	}
}

// drip sends a text at once and another one every second.
func drip(to io.Writer, first, again string) {
	_, err := io.WriteString(to, first)
	for err == nil && again != "" {
		time.Sleep(time.Second)
		_, err = io.WriteString(to, again)
	}
}

// TestConnectionsAreBounded opens more connections than are accepted.
func TestConnectionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := make(pipes, maxConnections+50)
		server := boundedServer(http.NotFoundHandler())
		go server.Serve(boundedListener(listener)) //nolint:errcheck // until it is closed
		var visitors []net.Conn
		for range cap(listener) {
			theirs, ours := net.Pipe()
			visitors = append(visitors, theirs)
			listener <- ours
		}
		synctest.Wait()
		if len(listener) != 50 {
			t.Errorf("%d wait to be accepted, want 50", len(listener))
		}
		time.Sleep(6 * time.Second) // those who say nothing make room
		synctest.Wait()
		if len(listener) != 0 {
			t.Errorf("%d still wait", len(listener))
		}
		for _, v := range visitors {
			v.Close()
		}
		close(listener)
		server.Close()
	})
}
