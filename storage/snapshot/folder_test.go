package snapshot

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// folder opens a folder on a clock that the test moves.
func folder(t *testing.T, change func(*Config)) (*Folder, *time.Time) {
	t.Helper()
	now := at
	cfg := Config{Dir: filepath.Join(t.TempDir(), "snapshots"), Now: func() time.Time { return now }}
	if change != nil {
		change(&cfg)
	}
	f, err := OpenFolder(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, &now
}

// numbered is a snapshot that differs from others of other numbers.
func numbered(n int, by string) *Snapshot {
	s := sample()
	s.Meta.By, s.Meta.Created = by, at.Add(time.Duration(n)*time.Minute)
	return s
}

func TestFolderKeepsSnapshots(t *testing.T) {
	f, _ := folder(t, nil)
	first, err := f.Put(numbered(1, "page"))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := f.Put(numbered(1, "page")); err != nil || again.ID != first.ID {
		t.Errorf("the same again is %s: %v", again.ID, err)
	}
	second, err := f.Put(numbered(2, "command"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := f.List()
	if err != nil || len(list) != 2 || list[0].ID != second.ID || list[1].Meta.Title != "Writers are paused" || list[1].Size != first.Size {
		t.Fatalf("%+v, %v", list, err)
	}
	if s, err := f.Get(first.ID); err != nil || s.Meta.Host != "broker-07" {
		t.Errorf("%v", err)
	}
	st, err := os.Stat(filepath.Join(f.cfg.Dir, first.ID+Suffix))
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	if err := f.Delete(first.ID); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{first.ID, ":key", "", "../links.json", strings.Repeat("a", 64)} {
		if _, err := f.Get(id); !errors.Is(err, ErrGone) {
			t.Errorf("%q: %v", id, err)
		}
		if err := f.Delete(id); !errors.Is(err, ErrGone) {
			t.Errorf("deleting %q: %v", id, err)
		}
	}
}

func TestImport(t *testing.T) {
	from, _ := folder(t, nil)
	to, _ := folder(t, nil)
	info, err := from.Put(sample())
	if err != nil {
		t.Fatal(err)
	}
	raw, err := from.Raw(info.ID)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(raw)
	if err = errors.Join(err, raw.Close()); err != nil {
		t.Fatal(err)
	}
	got, err := to.Import(bytes.NewReader(data))
	if err != nil || got.ID != info.ID {
		t.Fatalf("%s, want %s: %v", got.ID, info.ID, err)
	}
	if _, err := to.Import(strings.NewReader("hello")); !errors.Is(err, ErrNot) {
		t.Error(err)
	}
	if list, _ := to.List(); len(list) != 1 {
		t.Errorf("%d snapshots", len(list))
	}
}

// TestDamagedFile has its bytes changed on the disk.
func TestDamagedFile(t *testing.T) {
	f, _ := folder(t, nil)
	info, err := f.Put(sample())
	if err != nil {
		t.Fatal(err)
	}
	other, err := f.Put(numbered(7, "page"))
	if err != nil {
		t.Fatal(err)
	}
	name := func(id string) string { return filepath.Join(f.cfg.Dir, id+Suffix) }
	data, err := os.ReadFile(name(other.ID))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name(info.ID), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Get(info.ID); !errors.Is(err, errDamaged) {
		t.Errorf("contents of another: %v", err)
	}
	if err := os.WriteFile(name(info.ID), data[:len(data)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Get(info.ID); err == nil {
		t.Error("half a file is read")
	}
	if _, err := f.Get(other.ID); err != nil {
		t.Error(err)
	}
}

// TestAutomaticOnesAreCapped makes more than are kept; one with a link stays.
func TestAutomaticOnesAreCapped(t *testing.T) {
	f, _ := folder(t, func(c *Config) { c.Automatic = 3 })
	var ids []string
	for i := range 6 {
		info, err := f.Put(numbered(i, Automatic))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, info.ID)
		if i == 0 {
			if _, err := f.NewLink(info.ID, "page", DefaultExpiry); err != nil {
				t.Fatal(err)
			}
		}
	}
	list, err := f.List()
	if err != nil || len(list) != 3 || list[0].ID != ids[5] || list[1].ID != ids[4] || list[2].ID != ids[0] {
		t.Errorf("%d are left: %v", len(list), err)
	}
}

func TestFullFolder(t *testing.T) {
	f, _ := folder(t, func(c *Config) { c.MaxBytes = 5000 })
	var err error
	n := 0
	for ; err == nil && n < 20; n++ {
		_, err = f.Put(numbered(n, "page"))
	}
	if !errors.Is(err, ErrLimit) || !strings.Contains(err.Error(), "delete some") {
		t.Errorf("after %d: %v", n, err)
	}
}

func TestLinks(t *testing.T) {
	f, now := folder(t, nil)
	info, err := f.Put(sample())
	if err != nil {
		t.Fatal(err)
	}
	l, err := f.NewLink(info.ID, "page", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := f.Resolve(l.Token); err != nil || got.Snapshot != info.ID {
		t.Errorf("%+v, %v", got, err)
	}
	if err := f.Opened(l.Token); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", ":token", l.Token[:31], l.Token + "0", strings.ToUpper(l.Token), strings.Repeat("0", 32), l.Name(), "../" + l.Token} {
		if _, err := f.Resolve(bad); bad != l.Token && !errors.Is(err, ErrGone) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	again, err := OpenFolder(f.cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if links := again.Links(info.ID); len(links) != 1 || links[0].Token != l.Token {
		t.Errorf("after a restart: %+v", links)
	}
	*now = now.Add(time.Hour)
	if _, err := f.Resolve(l.Token); !errors.Is(err, ErrGone) {
		t.Error("an expired link opens")
	}
	l, err = f.NewLink(info.ID, "page", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Revoke(l.Name()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Resolve(l.Token); !errors.Is(err, ErrGone) {
		t.Error("a revoked link opens")
	}
	if err := f.Revoke(l.Name()); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
}

// TestDamagedLinks are put aside; the snapshots stay.
func TestDamagedLinks(t *testing.T) {
	f, _ := folder(t, nil)
	info, err := f.Put(sample())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.cfg.Dir, linksFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := OpenFolder(f.cfg)
	if err == nil || again == nil || !strings.Contains(err.Error(), "put aside") {
		t.Fatalf("%v", err)
	}
	defer again.Close()
	if _, err := again.Get(info.ID); err != nil {
		t.Error(err)
	}
	if _, err := again.NewLink(info.ID, "page", time.Hour); err != nil {
		t.Error(err)
	}
}
