package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"stallmark/storage/model"
)

// What the child does to its files is recorded at the system calls, of a real
// child, without any part of it knowing: a seccomp filter has the kernel ask
// before each of them (seccomp_unotify(2), Linux 5.7 for all threads at once),
// and the test notes what it is and lets it go on. bbolt takes a real file only,
// so that a file in between could not see what it writes.

// fileCall is one system call that changes a file, or makes changes durable.
type fileCall struct {
	kind     callKind
	file     int    // number of the file, whatever its name
	name, to string // of a rename or removal
	off      int64
	data     []byte
	size     int64
	fed      int64 // beats that had been fed before it
}

type callKind int

const (
	callWrite callKind = iota
	callTruncate
	callSync
	callRename
	callRemove
)

// watchedCalls are the system calls that are recorded.
func watchedCalls() []uint32 {
	return []uint32{
		unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_FTRUNCATE, unix.SYS_FSYNC, unix.SYS_FDATASYNC,
		unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_UNLINKAT, unix.SYS_FALLOCATE,
	}
}

// watchedChild has this process watched by whoever holds the other end of the
// socket, and goes on as a child.
func watchedChild() error {
	listener, err := watchSelf()
	if err != nil {
		return err
	}
	if err := errors.Join(unix.Sendmsg(ChildFD, []byte{0}, unix.UnixRights(listener), nil, 0), unix.Close(ChildFD)); err != nil {
		return err
	}
	return RunChild(context.Background(), os.NewFile(ChildFD+1, "socket"), os.Getenv(pathEnv), time.Now, func() {})
}

// watchSelf installs the filter for all threads.
func watchSelf() (listener int, err error) {
	calls := watchedCalls()
	prog := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}} // the number of the call
	for i, nr := range calls {
		prog = append(prog, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: nr, Jt: uint8(len(calls) - i)})
	}
	prog = append(prog,
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF})
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, err
	}
	fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_TSYNC|unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH,
		uintptr(unsafe.Pointer(&fprog)))
	if errno != 0 {
		return 0, errno
	}
	return int(fd), nil
}

// notification is struct seccomp_notif.
type notification struct {
	id    uint64
	pid   uint32
	flags uint32
	nr    int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

// verdict is struct seccomp_notif_resp.
type verdict struct {
	id    uint64
	val   int64
	err   int32
	flags uint32
}

// callLog is what a child did.
type callLog struct {
	dir string
	fed atomic.Int64

	mu    sync.Mutex
	calls []fileCall
	names map[string]int
	files int
	err   error
}

// watch notes calls until the child has gone.
func (l *callLog) watch(listener int) {
	defer unix.Close(listener)
	for {
		var n notification
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&n))); errno != 0 {
			if errno == unix.EINTR {
				continue
			}
			return // the child has ended
		}
		err := l.note(&n)
		v := verdict{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&v)))
		if err != nil {
			l.mu.Lock()
			l.err = errors.Join(l.err, err)
			l.mu.Unlock()
		}
	}
}

// note notes one call.
func (l *callLog) note(n *notification) error {
	proc := "/proc/" + strconv.Itoa(int(n.pid))
	switch n.nr {
	case unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
		return l.moved(proc, n.args[1], n.args[3])
	case unix.SYS_UNLINKAT:
		return l.moved(proc, n.args[1], 0)
	}
	path, err := os.Readlink(fmt.Sprint(proc, "/fd/", int32(n.args[0])))
	if err != nil || filepath.Dir(path) != l.dir {
		return nil // a socket, or standard error
	}
	c := fileCall{}
	switch n.nr {
	case unix.SYS_WRITE:
		if c.off, err = position(proc, int32(n.args[0])); err == nil {
			c.data, err = memory(proc, n.args[1], int(n.args[2]))
		}
	case unix.SYS_PWRITE64:
		c.off = int64(n.args[3])
		c.data, err = memory(proc, n.args[1], int(n.args[2]))
	case unix.SYS_FTRUNCATE:
		c.kind, c.size = callTruncate, int64(n.args[1])
	case unix.SYS_FSYNC, unix.SYS_FDATASYNC:
		c.kind = callSync
	default:
		err = fmt.Errorf("call %d is not understood", n.nr)
	}
	l.add(path, c)
	return err
}

// moved notes a rename, or a removal if to is 0.
func (l *callLog) moved(proc string, from, to uint64) error {
	name, err := text(proc, from)
	if err != nil || filepath.Dir(name) != l.dir {
		return err
	}
	c := fileCall{kind: callRemove, name: filepath.Base(name)}
	if to != 0 {
		target, err := text(proc, to)
		if err != nil {
			return err
		}
		c.kind, c.to = callRename, filepath.Base(target)
	}
	l.add(name, c)
	if to != 0 {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.names[c.to] = l.names[c.name]
	}
	return nil
}

func (l *callLog) add(path string, c fileCall) {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := filepath.Base(path)
	id, ok := l.names[name]
	if !ok {
		id = l.files
		l.files++
		l.names[name] = id
	}
	c.file, c.fed = id, l.fed.Load()
	if c.name == "" {
		c.name = name
	}
	l.calls = append(l.calls, c)
}

func memory(proc string, addr uint64, n int) ([]byte, error) {
	f, err := os.Open(proc + "/mem")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, n)
	_, err = f.ReadAt(b, int64(addr))
	return b, err
}

// text reads a text that ends with a zero.
func text(proc string, addr uint64) (string, error) {
	b, err := memory(proc, addr, 256)
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return string(b[:i]), nil
	}
	return "", errors.Join(err, errors.New("no end of a path"))
}

// position is where the next write to a descriptor goes.
func position(proc string, fd int32) (int64, error) {
	b, err := os.ReadFile(fmt.Sprint(proc, "/fdinfo/", fd))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(b), "pos:")
	line, _, _ := strings.Cut(rest, "\n")
	return strconv.ParseInt(strings.TrimSpace(line), 10, 64)
}

// recordCalls runs a watched child for so many minutes of beats and returns
// what it did.
func recordCalls(t testing.TB, minutes int64) []fileCall {
	t.Helper()
	path := dbPath(t)
	log := &callLog{dir: filepath.Dir(path), names: map[string]int{}}
	s := openWatched(t, path, log)
	for i := range minutes*60 + 20 {
		log.fed.Store(i + 1)
		feed(s.Store, i, 1)
		if i%25 == 3 {
			s.Fact(model.Fact{At: time.UnixMilli(base + i*1000).UTC(), Key: "beat", Value: strconv.FormatInt(i, 10)})
		}
		confirmed(t, s)
		if i%60 == 0 && i > 0 { // the minute before is stored
			eventually(t, "a minute to be stored", func() bool { return s.client.lastStored() >= base+(i-1)*1000 })
		}
	}
	s.shut(t)
	log.mu.Lock()
	defer log.mu.Unlock()
	if log.err != nil {
		t.Fatal(log.err)
	}
	return log.calls
}

func confirmed(t testing.TB, s *testStore) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := s.client.confirmed(ctx); err != nil {
		t.Fatal(err)
	}
}

// lastStored is the time of the row that the child has stored last.
func (c *client) lastStored() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.LastStored
}

// openWatched opens a store whose child is watched.
func openWatched(t testing.TB, path string, log *callLog) *testStore {
	t.Helper()
	ours, theirs, err := socketpair()
	if err != nil {
		t.Fatal(err)
	}
	child := childCommandOf(path, roleEnv+"=watched")
	watched := make(chan error, 1)
	go func() {
		listener, err := receiveListener(ours.(*net.UnixConn))
		watched <- errors.Join(err, ours.Close())
		if err == nil {
			log.watch(listener)
		}
	}()
	s, err := Open(context.Background(), Options{Path: path, Now: time.Now, Child: func(ctx context.Context) *exec.Cmd {
		cmd := child(ctx)
		cmd.ExtraFiles = []*os.File{theirs}
		cmd.Stderr = os.Stderr
		return cmd
	}})
	theirs.Close()
	if err != nil {
		t.Fatal(err)
	}
	ts := &testStore{s, path, nil}
	t.Cleanup(func() { ts.shut(t) })
	if err := <-watched; err != nil {
		t.Skipf("here no process can be watched: %v", err)
	}
	return ts
}

// receiveListener takes the descriptor that the watched child sends.
func receiveListener(conn *net.UnixConn) (int, error) {
	oob := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := conn.ReadMsgUnix(make([]byte, 1), oob)
	if err != nil {
		return 0, err
	}
	msgs, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(msgs) != 1 {
		return 0, errors.Join(err, errors.New("no descriptor"))
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil || len(fds) != 1 {
		return 0, errors.Join(err, errors.New("no descriptor"))
	}
	return fds[0], nil
}
