package process

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// someone is a user who owns nothing here and is in no group of this process.
var someone = credentials{uid: 4_000_000, gids: []uint32{4_000_000}}

// me are the credentials of the test itself, without a superuser's passing.
func me() credentials {
	return credentials{uid: uint32(os.Getuid()), gids: []uint32{uint32(os.Getgid())}}
}

// readIn reads a path below a root folder as somebody.
func readIn(t *testing.T, root string, who credentials, path string) (string, error) {
	t.Helper()
	fd, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	w := walker{who: who, self: "/proc/self/fd", dirs: []int{fd}}
	defer w.close()
	f, err := w.open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	return string(b), err
}

// jail makes a root folder with files and, beside it, a file that no path may
// reach.
func jail(t *testing.T) (root string) {
	t.Helper()
	top := t.TempDir()
	root = filepath.Join(top, "root")
	for _, dir := range []string{"etc/open", "etc/private", "data"} {
		must(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	write := func(name, text string, mode os.FileMode) {
		must(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
		must(t, os.Chmod(filepath.Join(root, name), mode))
	}
	write("../outside", "outside", 0o644)
	write("etc/open/conf", "conf", 0o644)
	write("etc/shadow", "shadow", 0o600)
	write("etc/group", "group", 0o640)
	write("etc/notowner", "notowner", 0o044)
	write("etc/private/conf", "private", 0o644)
	write("outside", "inside", 0o644)
	must(t, os.Chmod(filepath.Join(root, "etc/private"), 0o700))
	for name, target := range map[string]string{
		"etc/abs": "/etc/open/conf", "etc/rel": "open/../../etc/open/conf", "etc/out": filepath.Join(top, "outside"), "etc/up": "../../../outside",
		"etc/loop": "loop", "etc/toshadow": "/etc/shadow", "etc/dirlink": "/etc/open", "etc/deep": "dirlink/conf",
	} {
		must(t, os.Symlink(target, filepath.Join(root, name)))
	}
	must(t, unix.Mkfifo(filepath.Join(root, "etc/fifo"), 0o666))
	must(t, os.Chmod(filepath.Join(root, "etc/fifo"), 0o666))
	return root
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRootWalk(t *testing.T) {
	root := jail(t)
	group := credentials{uid: 4_000_000, gids: []uint32{7, uint32(os.Getgid())}}
	superuser := credentials{uid: 0, override: true}
	for _, c := range []struct {
		path string
		who  credentials
		want string
		err  error
	}{
		{"/etc/open/conf", someone, "conf", nil},
		{"//etc/./open//conf", someone, "conf", nil},
		{"/etc/abs", someone, "conf", nil},
		{"/etc/rel", someone, "conf", nil},
		{"/etc/deep", someone, "conf", nil},
		{"/etc/dirlink/conf", someone, "conf", nil},
		{"/../../../../etc/open/conf", someone, "conf", nil},
		{"/etc/up", someone, "inside", nil},
		{"/etc/../../outside", someone, "inside", nil},
		{"/etc/out", someone, "", unix.ENOENT},
		{"/etc/shadow", someone, "", ErrRefused},
		{"/etc/toshadow", someone, "", ErrRefused},
		{"/etc/shadow", me(), "shadow", nil},
		{"/etc/group", someone, "", ErrRefused},
		{"/etc/group", group, "group", nil},
		{"/etc/notowner", me(), "", ErrRefused},
		{"/etc/private/conf", someone, "", ErrRefused},
		{"/etc/private/../open/conf", someone, "", ErrRefused},
		{"/etc/private/conf", me(), "private", nil},
		{"/etc/shadow", superuser, "shadow", nil},
		{"/etc/fifo", someone, "", ErrRefused},
		{"/etc/fifo", superuser, "", ErrRefused},
		{"/etc/open", someone, "", ErrRefused},
		{"/", someone, "", ErrRefused},
		{"/etc/loop", someone, "", unix.ELOOP},
		{"/etc/open/conf/x", someone, "", unix.ENOTDIR},
		{"/etc/open/conf/..", someone, "", unix.ENOTDIR},
		{"/none", someone, "", unix.ENOENT},
		{strings.Repeat("/x/..", maxParts), someone, "", unix.ENAMETOOLONG},
	} {
		got, err := readIn(t, root, c.who, c.path)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s as %+v: %q, %v; want %q, %v", c.path, c.who, got, err, c.want, c.err)
		}
	}
}

func TestRootWalkRefusesActiveFilesystems(t *testing.T) {
	for _, path := range []string{"/proc/self/environ", "/proc/self/root/etc/passwd", "/proc/self/fd/0", "/sys/kernel/mm/transparent_hugepage/enabled", "/dev/null"} {
		if got, err := readIn(t, "/", credentials{uid: 0, override: true}, path); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
}

func TestRootWalkRefusesAccessLists(t *testing.T) {
	root := jail(t)
	name := filepath.Join(root, "etc/open/conf")
	// user::rw- user:4000000:--- group::r-- mask::r-- other::r--
	acl := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range [][3]uint32{{1, 6, 1<<32 - 1}, {2, 0, someone.uid}, {4, 4, 1<<32 - 1}, {0x10, 4, 1<<32 - 1}, {0x20, 4, 1<<32 - 1}} {
		acl = binary.LittleEndian.AppendUint16(acl, uint16(e[0]))
		acl = binary.LittleEndian.AppendUint16(acl, uint16(e[1]))
		acl = binary.LittleEndian.AppendUint32(acl, e[2])
	}
	if err := unix.Setxattr(name, "system.posix_acl_access", acl, 0); err != nil {
		t.Skipf("this file system has no access control lists: %v", err)
	}
	if got, err := readIn(t, root, someone, "/etc/open/conf"); !errors.Is(err, ErrRefused) {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := readIn(t, root, me(), "/etc/open/conf"); got != "conf" {
		t.Errorf("the owner: %q, %v", got, err)
	}
}

// ownID is the test's own process.
func ownID(t *testing.T) ID {
	t.Helper()
	b, err := os.ReadFile("/proc/self/stat")
	must(t, err)
	st, ok := parseStat(b)
	if !ok {
		t.Fatalf("%q", b)
	}
	return ID{os.Getpid(), st.start}
}

func TestRootOpener(t *testing.T) {
	id := ownID(t)
	exe, err := os.Executable()
	must(t, err)
	file := filepath.Join(t.TempDir(), "conf")
	must(t, os.WriteFile(file, []byte("text"), 0o644))
	o := &RootOpener{"/proc", []string{filepath.Base(exe)}}
	if b, err := o.ReadFile(id, file, 4); string(b) != "text" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := o.ReadFile(id, file, 3); !errors.Is(err, ErrRefused) {
		t.Errorf("longer than the limit: %v", err)
	}
	for _, path := range []string{"", "conf", "/a\x00b", "/" + strings.Repeat("x", unix.PathMax)} {
		if _, err := o.Open(id, path); !errors.Is(err, ErrRefused) {
			t.Errorf("%.20q: %v", path, err)
		}
	}
	if _, err := o.Open(ID{id.Pid, id.Start + 1}, file); !errors.Is(err, unix.ESRCH) {
		t.Errorf("another process under the pid: %v", err)
	}
	if _, err := NewRootOpener("/proc").Open(id, file); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "executable") {
		t.Errorf("no JVM: %v", err)
	}
	if _, err := o.Open(ID{1 << 30, 1}, file); !errors.Is(err, unix.ENOENT) {
		t.Errorf("no such process: %v", err)
	}
}

func TestParseCredentials(t *testing.T) {
	status := func(uid, gid, groups, caps string) []byte {
		return fmt.Appendf(nil, "Name:\tjava\nUid:\t%s\nGid:\t%s\nGroups:\t%s\nCapEff:\t%s\n", uid, gid, groups, caps)
	}
	c, err := parseCredentials(status("1000\t1000\t1000\t1000", "100\t100\t100\t100", "4 24 65534 ", "0000000000000002"))
	if err != nil || !c.equal(credentials{1000, []uint32{4, 24, 100}, false}) {
		t.Errorf("%+v, %v", c, err)
	}
	c, err = parseCredentials(status("0\t0\t0\t0", "0\t0\t0\t0", "", "00000000a80425fb"))
	if err != nil || !c.override {
		t.Errorf("root in a container: %+v, %v", c, err)
	}
	if c, err = parseCredentials(status("0\t0\t0\t0", "0\t0\t0\t0", "", "0000000000000000")); err != nil || c.override {
		t.Errorf("root without capabilities: %+v, %v", c, err)
	}
	for name, s := range map[string][]byte{
		"set-user-id":  status("1000\t0\t0\t0", "0\t0\t0\t0", "", "ffffffffffffffff"),
		"set-group-id": status("1000\t1000\t1000\t1000", "1000\t42\t42\t42", "", "0"),
		"nobody":       status("65534\t65534\t65534\t65534", "0\t0\t0\t0", "", "0"),
		"no ids":       []byte("Name:\tjava\n"),
		"broken ids":   status("a\tb\tc\td", "0\t0\t0\t0", "", "0"),
	} {
		if c, err := parseCredentials(s); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
}
