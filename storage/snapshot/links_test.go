package snapshot

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestTwoProcessesShareTheLinks has a service and a command on one folder: what
// one of them deletes or revokes is not brought back by what the other remembers.
func TestTwoProcessesShareTheLinks(t *testing.T) {
	service, now := folder(t, nil)
	command, err := OpenFolder(service.cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer command.Close()
	made := func(n int) (Info, Link) {
		t.Helper()
		info, err := service.Put(numbered(n, "page"))
		if err != nil {
			t.Fatal(err)
		}
		l, err := service.NewLink(info.ID, "page", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return info, l
	}
	deleted, gone := made(1)
	kept, good := made(2)
	revoked, err := service.NewLink(kept.ID, "page", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := service.Opened(gone.Token); err != nil {
		t.Fatal(err)
	}
	if err := service.Opened(good.Token); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(command.Delete(deleted.ID), command.Revoke(revoked.Name())); err != nil {
		t.Fatal(err)
	}
	byCommand, err := command.NewLink(kept.ID, "command", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	// The service writes what it knows, and the snapshot is imported again.
	*now = now.Add(2 * openedEvery)
	if err := service.Opened(good.Token); err != nil {
		t.Fatal(err)
	}
	if _, err := service.Put(numbered(1, "page")); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*Folder{service, command} {
		for _, l := range []Link{gone, revoked} {
			if _, err := f.Resolve(l.Token); !errors.Is(err, ErrGone) {
				t.Errorf("a link that was ended opens again: %v", err)
			}
		}
		for _, l := range []Link{good, byCommand} {
			if _, err := f.Resolve(l.Token); err != nil {
				t.Errorf("a link that was not ended is lost: %v", err)
			}
		}
		if l, err := f.Resolve(good.Token); err != nil || l.Opens != 2 {
			t.Errorf("opened %d times, want 2: %v", l.Opens, err)
		}
	}
}

// TestOpeningsSurviveAnotherWriter counts openings that were not written yet when
// another process wrote the links.
func TestOpeningsSurviveAnotherWriter(t *testing.T) {
	service, _ := folder(t, nil)
	info, err := service.Put(sample())
	if err != nil {
		t.Fatal(err)
	}
	l, err := service.NewLink(info.ID, "page", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 { // within the minute in which they are only remembered
		if err := service.Opened(l.Token); err != nil {
			t.Fatal(err)
		}
	}
	command, err := OpenFolder(service.cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer command.Close()
	if _, err := command.NewLink(info.ID, "command", time.Hour); err != nil {
		t.Fatal(err)
	}
	if got, err := service.Resolve(l.Token); err != nil || got.Opens != 3 {
		t.Errorf("opened %d times, want 3: %v", got.Opens, err)
	}
	if err := service.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := command.Resolve(l.Token); err != nil || got.Opens != 3 {
		t.Errorf("after the service has ended: %d times, want 3: %v", got.Opens, err)
	}
}

// TestCVE202527591ModesWhateverTheUmask writes every file of the folder under a
// umask that closes nothing (below CVE-2025-27591).
func TestCVE202527591ModesWhateverTheUmask(t *testing.T) {
	before := unix.Umask(0)
	defer unix.Umask(before)
	f, _ := folder(t, nil)
	info, err := f.Put(sample())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.NewLink(info.ID, "page", time.Hour); err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadDir(f.cfg.Dir)
	if err != nil || len(list) != 3 {
		t.Fatalf("%v, %v; want a snapshot, the links and their lock", list, err)
	}
	for _, e := range list {
		if st, err := os.Stat(filepath.Join(f.cfg.Dir, e.Name())); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", e.Name(), st.Mode(), err)
		}
	}
	if st, err := os.Stat(f.cfg.Dir); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", st.Mode(), err)
	}
}
