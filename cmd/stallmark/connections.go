package main

import (
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"
)

// maxConnections bounds the visitors at once; more wait to be accepted. A page
// opens some, and one that is idle is closed after a minute.
const maxConnections = 256

// boundedServer is a server that no visitor holds by being slow: to send a head,
// to send a body, to read an answer, to ask again.
func boundedServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    32 << 10,
	}
}

// boundedListener accepts so many connections at once and no more, and of one address
// a part of them.
func boundedListener(l net.Listener) net.Listener {
	return netutil.LimitListener(newPerAddress(l, maxOfAddress), maxConnections)
}
