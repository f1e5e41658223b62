package main

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"stallmark/storage/model"
)

// lesser keeps, of a recording, what keep accepts: tick and name inside it.
type lesser struct {
	name string
	keep func(tick int, name string) bool
}

// lost says which of every ten beats a recorder under pressure did not take.
func lost(beats ...int) func(int, string) bool {
	return func(tick int, _ string) bool { return !slices.Contains(beats, tick%10) }
}

// TestLesserCaptures holds the verdicts where the physics is still there and
// less of it was recorded.
func TestLesserCaptures(t *testing.T) {
	without := func(prefix string) func(int, string) bool {
		return func(_ int, name string) bool { return !strings.HasPrefix(name, prefix) }
	}
	for _, l := range []lesser{
		{"every second beat", lost(1, 3, 5, 7, 9)},
		{"a fifth of the beats lost", lost(0, 1)},
		{"another fifth of the beats lost", lost(3, 6)},
		{"no stat, so the number of CPUs is not known", without("proc/stat")},
		{"no pressure", without("proc/pressure/")},
		{"vmstat, diskstats and pressure only", func(_ int, name string) bool {
			return name == "meta" || name == "proc/vmstat" || name == "proc/diskstats" || strings.HasPrefix(name, "proc/pressure/")
		}},
	} {
		for _, e := range expectations() {
			if e.root == "" && !e.quiet || e.also {
				continue
			}
			t.Run(l.name+"/"+e.capture, func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), "lesser.tar")
				l.make(t, capturePath(e.capture), path)
				got := runProgram(t, "diagnose", "--json", path)
				var r model.Report
				if err := json.Unmarshal([]byte(got.stdout), &r); err != nil {
					t.Fatalf("%v\n%s", err, got.stderr)
				}
				e.sure = false // what was left out may be the witness
				code := got.code
				if e.root == "" && code == exitUnknown {
					code = exitOK // a cause whose files were left out
				}
				e.check(t, r, code)
			})
		}
	}
}

// TestTooShortToSay has six seconds of sixteen direct writers: too little for a
// verdict, and so no clean bill either.
func TestTooShortToSay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "short.tar")
	lesser{"short", func(tick int, _ string) bool { return tick >= 20 && tick < 26 }}.make(t, capturePath("j_odirect"), path)
	got := runProgram(t, "diagnose", "--json", path)
	var r model.Report
	if err := json.Unmarshal([]byte(got.stdout), &r); err != nil {
		t.Fatalf("%v\n%s", err, got.stderr)
	}
	unknown := slices.ContainsFunc(r.Unknown, func(u model.Unknown) bool { return u.Signature == "disk-saturation" })
	if got.code != exitUnknown || !unknown {
		t.Errorf("code %d, want %d; unknown %+v", got.code, exitUnknown, r.Unknown)
	}
}

func (l lesser) make(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	z, err := zstd.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w := tar.NewWriter(out)
	if err := errors.Join(l.copy(tar.NewReader(z), w), w.Close()); err != nil {
		t.Fatal(err)
	}
}

func (l lesser) copy(r *tar.Reader, w *tar.Writer) error {
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		part := strings.SplitN(h.Name, "/", 3) // capture, tick, name
		if len(part) != 3 || h.Typeflag != tar.TypeReg {
			continue
		}
		tick, err := strconv.Atoi(part[1])
		if err != nil {
			return fmt.Errorf("entry %q: %w", h.Name, err)
		}
		if !l.keep(tick, part[2]) {
			continue
		}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := io.Copy(w, r); err != nil {
			return err
		}
	}
}
