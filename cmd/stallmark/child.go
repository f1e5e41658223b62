package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"

	"stallmark/storage"
)

// childName is the hidden subcommand that alone opens the data file.
const childName = "storage-child"

func childCommand() command {
	return command{name: childName, summary: "Keep the data file (started by serve)", hidden: true, run: runChild}
}

// runChild keeps the data file for the parent until that closes the socket.
// Signals are the parent's business: it still has beats to hand over.
func runChild(ctx context.Context, p *program, o *options, _ []string) (int, error) {
	modest(false)
	conn := os.NewFile(storage.ChildFD, "socket")
	if conn == nil {
		return exitUsage, usagef("%s is started by serve", childName)
	}
	rest := func() { freeMemory(false) }
	if err := storage.RunChild(context.WithoutCancel(ctx), conn, dataFile(o.data), p.now, rest); err != nil {
		if storage.Told(err) {
			err = nil // once is enough
		}
		return exitUsage, err
	}
	return exitOK, nil
}

// childOf makes the command that runs this program again as the child.
func childOf(data string) func(context.Context) *exec.Cmd {
	return func(ctx context.Context) *exec.Cmd {
		self, err := os.Executable()
		if err != nil {
			self = os.Args[0]
		}
		cmd := exec.CommandContext(ctx, self, childName, "--data", data)
		cmd.Stderr = os.Stderr
		return cmd
	}
}

func dataFile(dir string) string { return filepath.Join(dir, "stallmark.db") }
