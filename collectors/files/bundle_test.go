package files

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

func gzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstded(t *testing.T, data []byte) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll(data, nil)
}

// tarred makes an archive of headers and, for files, their contents.
func tarred(t *testing.T, files map[string]string, others ...*tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for name, data := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(data)), Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	for _, h := range others {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipped(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, data := range files {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestBundle(t *testing.T) {
	nested := func(depth int) []byte {
		data := []byte("hello")
		for range depth {
			data = gzipped(t, data)
		}
		return data
	}
	tests := []struct {
		name  string
		data  []byte
		blobs string // names and contents
		note  string // part of the only note
	}{
		{"plain.log", []byte("hello"), `plain.log="hello"`, ""},
		{"a.log.gz", gzipped(t, []byte("hello")), `a.log="hello"`, ""},
		{"a.log.zst", zstded(t, []byte("hello")), `a.log="hello"`, ""},
		{"a.tar", tarred(t, map[string]string{"x/y.log": "hello"}), `a.tar/x/y.log="hello"`, ""},
		{"a.tar.gz", gzipped(t, tarred(t, map[string]string{"y.log": "hello"})), `a.tar/y.log="hello"`, ""},
		{"a.zip", zipped(t, map[string]string{"y.log.gz": string(gzipped(t, []byte("hello")))}), `a.zip/y.log="hello"`, ""},
		{"out.tar", tarred(t, map[string]string{"../../etc/passwd": "x"}), "", "leaves the archive"},
		{"out.zip", zipped(t, map[string]string{"../x": "x"}), "", "leaves the archive"},
		{"absolute.tar", tarred(t, map[string]string{"/etc/passwd": "x"}), "", "leaves the archive"},
		{"link.tar", tarred(t, nil, &tar.Header{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}), "", "is a link or a device"},
		{"dev.tar", tarred(t, nil, &tar.Header{Name: "l", Typeflag: tar.TypeChar}), "", "is a link or a device"},
		{"deep.gz", nested(6), "", "archives in one another"},
		{"cut.gz", gzipped(t, []byte(strings.Repeat("hello", 100)))[:20], `cut="hello`, "damaged or cut off"},
		{"cut.tar", tarred(t, map[string]string{"a": strings.Repeat("x", 2000)})[:1024], `cut.tar/a="xxxx`, "damaged or cut off"},
		{"cut.zip", zipped(t, map[string]string{"a": "b"})[:40], "", "damaged zip"},
		{"bomb.gz", gzipped(t, make([]byte, 10<<20)), `bomb="\x00`, "only the last 1 MiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := NewBundle(BundleLimits{File: 1 << 20, Total: 4 << 20, Files: 10, Depth: 3})
			b.Add(tt.name, bytes.NewReader(tt.data))
			var got []string
			for _, blob := range b.Blobs {
				got = append(got, fmt.Sprintf("%s=%q", blob.Name, blob.Data))
			}
			if s := strings.Join(got, " "); s != tt.blobs && (tt.blobs == "" || !strings.HasPrefix(s, tt.blobs)) {
				t.Errorf("got %.200s, want %s", s, tt.blobs)
			}
			notes := strings.Join(b.Notes, "\n")
			if (notes == "") != (tt.note == "") || !strings.Contains(notes, tt.note) {
				t.Errorf("notes %q, want %q", notes, tt.note)
			}
		})
	}
}

// TestBundleLimits sends more files than are taken, and more bytes.
func TestBundleLimits(t *testing.T) {
	many := map[string]string{}
	for i := range 50 {
		many[fmt.Sprint(i)] = "x"
	}
	b := NewBundle(BundleLimits{File: 1 << 20, Total: 4 << 20, Files: 10, Depth: 3})
	b.Add("many.tar", bytes.NewReader(tarred(t, many)))
	if len(b.Blobs) != 10 || len(b.Notes) != 1 {
		t.Errorf("%d files, notes %q", len(b.Blobs), b.Notes)
	}
	b = NewBundle(BundleLimits{File: 1 << 20, Total: 1 << 20, Files: 10, Depth: 3})
	b.Add("a", bytes.NewReader(make([]byte, 1<<20)))
	b.Add("b", strings.NewReader("x"))
	if len(b.Blobs) != 1 || len(b.Notes) != 1 || !strings.Contains(b.Notes[0], "over the limit") {
		t.Errorf("%d files, notes %q", len(b.Blobs), b.Notes)
	}
}

// TestBundleKeepsTheEnd gives more than is taken, by a pipe and by a file that
// can seek, and wants the newest lines whole.
func TestBundleKeepsTheEnd(t *testing.T) {
	var all bytes.Buffer
	for i := range 10_000 {
		fmt.Fprintf(&all, "line %d\n", i)
	}
	limits := BundleLimits{File: 1000, Total: 40_000, Files: 10, Depth: 3}
	for name, r := range map[string]io.Reader{"seek": bytes.NewReader(all.Bytes()), "pipe": io.MultiReader(bytes.NewReader(all.Bytes()))} {
		b := NewBundle(limits)
		b.Add(name, r)
		got := string(b.Blobs[0].Data)
		if !strings.HasPrefix(got, "line ") || !strings.HasSuffix(got, "line 9998\nline 9999\n") || len(got) > 1000 || len(got) < 950 {
			t.Errorf("%s: %d bytes, %.20q ... %q", name, len(got), got, got[max(0, len(got)-30):])
		}
		if len(b.Notes) != 1 || !strings.Contains(b.Notes[0], "are read") {
			t.Errorf("%s: notes %q", name, b.Notes)
		}
	}
}

// TestBundleSifts wants lines of the part that is not kept, and every line of the
// end, whatever the blocks cut.
func TestBundleSifts(t *testing.T) {
	var all strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&all, "line %d\n", i)
	}
	b := NewBundle(BundleLimits{File: 1 << 20, Total: 4 << 20, Files: 10, Depth: 3})
	b.Sift = func(lines []byte) (kept []byte) {
		for line := range bytes.Lines(lines) {
			if bytes.HasSuffix(line, []byte("000\n")) {
				kept = append(kept, line...)
			}
		}
		return kept
	}
	b.Add("x", strings.NewReader(all.String()))
	next, whole := 1000, false
	for line := range strings.Lines(string(b.Blobs[0].Data)) {
		var n int
		if _, err := fmt.Sscanf(line, "line %d\n", &n); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		switch {
		case n == 0:
		case n == next && !whole:
			next += 1000
		case n != next && !whole:
			next, whole = n+1, true
		case n != next:
			t.Fatalf("line %d where %d was due", n, next)
		default:
			next++
		}
	}
	if next != 200_000 || !whole || len(b.Notes) != 1 {
		t.Errorf("up to %d, notes %q", next, b.Notes)
	}
}

// TestBundleKnowsChanges wants the time of a file's last change, and none for an
// archive that was made without.
func TestBundleKnowsChanges(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	b := NewBundle(DefaultBundleLimits())
	b.AddFile("a.gz", bytes.NewReader(gzipped(t, []byte("x"))), at)
	b.AddFile("b.tar", bytes.NewReader(tarred(t, map[string]string{"l": "x"})), at)
	b.Add("c", strings.NewReader("x"))
	if len(b.Blobs) != 3 || !b.Blobs[0].Changed.Equal(at) || !b.Blobs[1].Changed.IsZero() || !b.Blobs[2].Changed.IsZero() {
		t.Errorf("%+v", b.Blobs)
	}
}

// FuzzBundle wants what comes out to stay inside the limits.
func FuzzBundle(f *testing.F) {
	f.Add([]byte("\x1f\x8b\x08"))
	f.Add([]byte("PK\x03\x04"))
	f.Fuzz(func(t *testing.T, data []byte) {
		limits := BundleLimits{File: 1 << 16, Total: 1 << 18, Files: 5, Depth: 2}
		b := NewBundle(limits)
		b.Add("x", bytes.NewReader(data))
		var total int64
		for _, blob := range b.Blobs {
			if total += int64(len(blob.Data)); int64(len(blob.Data)) > limits.File {
				t.Fatalf("a file of %d bytes", len(blob.Data))
			}
		}
		if len(b.Blobs) > limits.Files || total > limits.Total {
			t.Fatalf("%d files of %d bytes", len(b.Blobs), total)
		}
	})
}
