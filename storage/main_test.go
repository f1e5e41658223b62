package storage

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The test binary runs itself again as what these tests kill.
const (
	roleEnv  = "STALLMARK_TEST_ROLE" // child, or parent
	pathEnv  = "STALLMARK_TEST_PATH"
	limitEnv = "STALLMARK_TEST_LIMIT" // of the size of files, in bytes
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case "":
		os.Exit(m.Run())
	case "child":
		limitFiles()
		if err := RunChild(context.Background(), os.NewFile(ChildFD, "socket"), os.Getenv(pathEnv), time.Now, func() {}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "mounted":
		if err := mountedChild(os.Getenv(pathEnv)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "watched":
		if err := watchedChild(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "parent":
		if err := killedParent(os.Getenv(pathEnv)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		panic("unknown role")
	}
}

// limitFiles makes writing fail beyond a size, as a full disk does.
func limitFiles() {
	var limit uint64
	if _, err := fmt.Sscan(os.Getenv(limitEnv), &limit); err != nil {
		return
	}
	ignoreSizeSignal()
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		panic(err)
	}
}

// childCommandOf makes the command of a real child process.
func childCommandOf(path string, env ...string) func(context.Context) *exec.Cmd {
	return func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = append(os.Environ(), roleEnv+"=child", pathEnv+"="+path)
		cmd.Env = append(cmd.Env, env...)
		return cmd
	}
}

// openReal opens a store with a real child process.
func openReal(t testing.TB, path string, env ...string) *testStore {
	t.Helper()
	s, err := Open(context.Background(), Options{
		Path: path, Now: time.Now, Child: childCommandOf(path, env...),
		Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError})),
	})
	if err != nil {
		t.Fatal(err)
	}
	ts := &testStore{s, path, nil}
	t.Cleanup(func() { ts.shut(t) })
	return ts
}
