package main

import (
	"net"
	"testing"
)

// farConn is a connection from an address.
type farConn struct {
	net.Conn
	from   string
	closed bool
}

func (c *farConn) RemoteAddr() net.Addr {
	a, _ := net.ResolveTCPAddr("tcp", c.from)
	return a
}

func (c *farConn) Close() error {
	c.closed = true
	return nil
}

// TestOneAddressCannotTakeAllConnections opens more than an address may: the others
// get in, and whoever closes one may open another.
func TestOneAddressCannotTakeAllConnections(t *testing.T) {
	queue := make(pipes, 32)
	l := newPerAddress(queue, 2)
	open := func(from string) *farConn {
		c := &farConn{from: from}
		queue <- c
		return c
	}
	first := open("192.0.2.1:1000")
	open("192.0.2.1:1001")
	refused := open("192.0.2.1:1002")
	open("192.0.2.2:1000")
	var got []net.Conn
	accept := func() {
		t.Helper()
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, c)
	}
	accept()
	accept()
	accept()
	if !refused.closed || got[2].RemoteAddr().String() != "192.0.2.2:1000" {
		t.Errorf("the third of one address: closed %v, then %v", refused.closed, got[2].RemoteAddr())
	}
	got[0].Close()
	got[0].Close() // counts once
	if again := open("192.0.2.1:1003"); !first.closed {
		t.Error("the first was not closed")
	} else if accept(); again.closed {
		t.Error("no room after one was closed")
	}
	open("[2001:db8::1]:1")
	open("[2001:db8::2]:1")
	far := open("[2001:db8::3]:1")
	for range 4 {
		open("127.0.0.1:1")
	}
	for range 6 {
		accept()
	}
	if !far.closed {
		t.Error("a /64 counts as many")
	}
}
