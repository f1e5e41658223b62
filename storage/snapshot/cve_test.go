package snapshot

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"stallmark/storage/model"
)

// packed is an archive of entries that this program would not write.
func packed(t *testing.T, headers ...*tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for _, h := range headers {
		h.Size = min(h.Size, 4)
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(make([]byte, h.Size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestCVE202139226LiteralIDs asks for ids and tokens as they stand in routes and
// for what only looks like one (Grafana CVE-2021-39226).
func TestCVE202139226LiteralIDs(t *testing.T) {
	f, _ := folder(t, nil)
	info, err := f.Put(sample())
	if err != nil {
		t.Fatal(err)
	}
	l, err := f.NewLink(info.ID, "page", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{
		"", ":token", ":key", "{token}", "{id}", "*", "%", "..", "../links.json", "links.json", l.Token[:31], l.Token + "0", strings.ToUpper(l.Token) + " ",
		" " + l.Token, l.Token[:31] + "\x00", strings.Repeat("0", 32), strings.Repeat("f", 64), info.ID[:63], info.ID + ".stallmark", strings.ToUpper(info.ID),
	} {
		if _, err := f.Resolve(bad); !errors.Is(err, ErrGone) {
			t.Errorf("token %q: %v", bad, err)
		}
		if _, err := f.Get(bad); !errors.Is(err, ErrGone) {
			t.Errorf("get %q: %v", bad, err)
		}
		if err := f.Delete(bad); !errors.Is(err, ErrGone) {
			t.Errorf("delete %q: %v", bad, err)
		}
		if err := f.Revoke(bad); !errors.Is(err, ErrGone) {
			t.Errorf("revoke %q: %v", bad, err)
		}
	}
	// What opens a snapshot does not name it for anything else, and the other way.
	if _, err := f.Resolve(l.Name()); !errors.Is(err, ErrGone) {
		t.Error("the name of a link opens it")
	}
	if err := f.Delete(l.Token); !errors.Is(err, ErrGone) {
		t.Error("a token deletes")
	}
}

// TestCVE202642154LengthBombs gives small archives that want much memory
// (Prometheus CVE-2026-42154): long texts, many values in few bytes, a table that
// says that it is longer than it is.
func TestCVE202642154LengthBombs(t *testing.T) {
	limits := Limits{Compressed: 1 << 20, Total: 8 << 20, Series: 2000, Events: 100, Points: 100_000}
	bombs := map[string]func(*Snapshot){
		"text":   func(s *Snapshot) { s.Events[0].Text = strings.Repeat("x", 9<<20) },
		"events": func(s *Snapshot) { s.Events = make([]model.Event, 101) },
		"values": func(s *Snapshot) {
			s.Samples = nil
			times := make([]int64, 5000)
			for i := range times {
				times[i] = int64(i) * 1000
			}
			for range 1000 { // five million equal values
				s.Samples = append(s.Samples, Series{T: times, V: make([]float64, len(times))})
			}
		},
		"series": func(s *Snapshot) { s.Samples = make([]Series, 2001) },
	}
	for name, change := range bombs {
		t.Run(name, func(t *testing.T) {
			s := sample()
			change(s)
			_, data, err := s.Encode()
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d bytes", len(data))
			if _, _, err := Decode(bytes.NewReader(data), limits); !errors.Is(err, ErrLimit) {
				t.Errorf("%v", err)
			}
		})
	}
	if err := decodeTable([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1}, make([]Series, 1), 10); !errors.Is(err, errDamaged) {
		t.Errorf("a block longer than its file: %v", err)
	}
}

// TestCVE20254123PathTraversal has archives whose entries lie elsewhere, are
// links or devices, or come twice (Grafana CVE-2025-4123 and every unpacker's).
func TestCVE20254123PathTraversal(t *testing.T) {
	f, _ := folder(t, nil)
	for name, headers := range map[string][]*tar.Header{
		"parent":   {{Name: "../meta.json", Typeflag: tar.TypeReg, Size: 4}},
		"absolute": {{Name: "/etc/passwd", Typeflag: tar.TypeReg, Size: 4}},
		"symlink":  {{Name: "meta.json", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}},
		"hardlink": {{Name: "meta.json", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}},
		"device":   {{Name: "meta.json", Typeflag: tar.TypeChar}},
		"folder":   {{Name: "meta.json", Typeflag: tar.TypeDir}},
		"twice":    {{Name: "meta.json", Typeflag: tar.TypeReg, Size: 4}, {Name: "meta.json", Typeflag: tar.TypeReg, Size: 4}},
		"more":     {{Name: "more.json", Typeflag: tar.TypeReg, Size: 4}},
	} {
		if _, err := f.Import(bytes.NewReader(packed(t, headers...))); !errors.Is(err, ErrNot) {
			t.Errorf("%s: %v", name, err)
		}
	}
	names, err := os.ReadDir(f.cfg.Dir)
	if err != nil || len(names) != 0 {
		t.Errorf("left in the folder: %v, %v", names, err)
	}
}

// TestCVE202527591SymlinkedFolder puts symbolic links where this program writes
// (below CVE-2025-27591), and opens a folder that everybody may read.
func TestCVE202527591SymlinkedFolder(t *testing.T) {
	other, dir := t.TempDir(), filepath.Join(t.TempDir(), "snapshots")
	if err := os.Symlink(other, dir); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFolder(Config{Dir: dir, Now: time.Now}); err == nil {
		t.Error("a folder behind a symbolic link is taken")
	}
	wide := filepath.Join(t.TempDir(), "wide")
	if err := os.Mkdir(wide, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(wide, 0o777); err != nil { // whatever the umask says
		t.Fatal(err)
	}
	f, err := OpenFolder(Config{Dir: wide, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if st, err := os.Stat(wide); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	victim := filepath.Join(other, "victim")
	if err := os.WriteFile(victim, []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	id, _, err := sample().Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{id + Suffix, id + Suffix + ".new", linksFile + ".new"} {
		if err := os.Symlink(victim, filepath.Join(wide, name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Put(sample()); err != nil {
		t.Errorf("put: %v", err)
	}
	if data, err := os.ReadFile(victim); err != nil || string(data) != "keep" {
		t.Errorf("the file behind the link: %q, %v", data, err)
	}
	if st, err := os.Lstat(filepath.Join(wide, id+Suffix)); err != nil || !st.Mode().IsRegular() || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st, err)
	}
}

// TestCVE201819416MalformedFiles flips every byte of a snapshot's file (sysstat
// CVE-2018-19416): it is refused, or its id tells that it is another.
func TestCVE201819416MalformedFiles(t *testing.T) {
	id, data, err := sample().Encode()
	if err != nil {
		t.Fatal(err)
	}
	limits := Limits{Compressed: 1 << 20, Total: 1 << 20, Series: 100, Events: 100, Points: 10_000}
	for i := range data {
		bad := bytes.Clone(data)
		bad[i] ^= 0x55
		got, s, err := Decode(bytes.NewReader(bad), limits)
		if err != nil || got != id {
			continue
		}
		if again, _, err := s.Encode(); err != nil || again != id { // a byte of the wrapping only
			t.Errorf("byte %d: contents changed under the same id: %v", i, err)
		}
	}
	for i := range data {
		if _, s, err := Decode(bytes.NewReader(data[:i]), limits); err == nil && s == nil {
			t.Fatalf("cut to %d bytes: neither a snapshot nor an error", i)
		}
	}
}
