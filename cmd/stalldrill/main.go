package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"stallmark/cmd/stalldrill/host"
)

func main() {
	// Children are told to die with the thread that started them: it must be
	// one that lives as long as we do.
	runtime.LockOSThread()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	p := &program{
		host:    host.Live(),
		program: "/proc/self/exe",
		stdin:   os.Stdin,
		stdout:  os.Stdout,
		stderr:  os.Stderr,
	}
	code := p.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}
