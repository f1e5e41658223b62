package snapshot

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
)

// DefaultExpiry is how long a link is good unless said otherwise.
const DefaultExpiry = 7 * 24 * time.Hour

// maxLinks bounds the links of all snapshots.
const maxLinks = 10_000

// Link lets whoever has its token see one snapshot, and nothing else.
type Link struct {
	Token    string    `json:"token"` // 128 random bits, hexadecimal
	Snapshot string    `json:"snapshot"`
	By       string    `json:"by"`
	Created  time.Time `json:"created"`
	Expires  time.Time `json:"expires"`
	Opened   time.Time `json:"opened,omitzero"` // last
	Opens    int       `json:"opens"`
}

// Name is a short name for a link by which it is revoked; it opens nothing.
func (l Link) Name() string {
	sum := sha256.Sum256([]byte("name " + l.Token))
	return hex.EncodeToString(sum[:6])
}

// NewLink makes a link to a snapshot that is good for a while.
func (f *Folder) NewLink(id, by string, good time.Duration) (Link, error) {
	if _, err := f.Info(id); err != nil {
		return Link{}, err
	}
	var random [16]byte
	rand.Read(random[:]) //nolint:errcheck // never fails (crypto/rand, Go 1.24)
	now := f.cfg.Now().UTC()
	l := Link{Token: hex.EncodeToString(random[:]), Snapshot: id, By: by, Created: now, Expires: now.Add(good)}
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.changing(func() error {
		f.dropExpired()
		switch {
		case !f.Has(id): // deleted meanwhile
			return ErrGone
		case len(f.links) >= maxLinks:
			return fmt.Errorf("%d links: %w; revoke some", len(f.links), ErrLimit)
		}
		f.links = append(f.links, l)
		return f.saveLinks()
	})
	if err != nil {
		return Link{}, err
	}
	return l, nil
}

// keepExpired is how long the list still shows a link that has expired.
const keepExpired = 30 * 24 * time.Hour

func (f *Folder) dropExpired() {
	limit := f.cfg.Now().Add(-keepExpired)
	f.links = slices.DeleteFunc(f.links, func(l Link) bool { return l.Expires.Before(limit) })
}

// Links lists the links to a snapshot, the newest first. If the file of links
// cannot be read now, they are those of the last time.
func (f *Folder) Links(id string) []Link {
	f.mu.Lock()
	defer f.mu.Unlock()
	_ = f.refreshLinks() // see above
	var out []Link
	for _, l := range f.links {
		if l.Snapshot == id {
			out = append(out, l)
		}
	}
	slices.Reverse(out)
	return out
}

// linked reports whether a link that is good leads to a snapshot.
func (f *Folder) linked(id string) bool {
	now := f.cfg.Now()
	return slices.ContainsFunc(f.links, func(l Link) bool { return l.Snapshot == id && l.Expires.After(now) })
}

// Revoke ends the link of this name.
func (f *Folder) Revoke(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changing(func() error {
		n := len(f.links)
		f.links = slices.DeleteFunc(f.links, func(l Link) bool { return l.Name() == name })
		if len(f.links) == n {
			return ErrGone
		}
		return f.saveLinks()
	})
}

// Resolve gives the link of a token. Every miss is the same ErrGone, and takes
// the same comparisons.
func (f *Folder) Resolve(token string) (Link, error) {
	if len(token) != 32 || strings.Trim(token, "0123456789abcdef") != "" {
		return Link{}, ErrGone
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.refreshLinks(); err != nil { // one of them may have been revoked
		return Link{}, ErrGone
	}
	now := f.cfg.Now()
	found := -1
	for i := range f.links {
		if subtle.ConstantTimeCompare([]byte(f.links[i].Token), []byte(token)) == 1 {
			found = i
		}
	}
	if found < 0 || !f.links[found].Expires.After(now) {
		return Link{}, ErrGone
	}
	return f.links[found], nil
}

// openedEvery is how often the times at which links were opened are written.
const openedEvery = time.Minute

// Opened notes that a link was opened.
func (f *Folder) Opened(token string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.refreshLinks(); err != nil {
		return err
	}
	now := f.cfg.Now().UTC()
	for i := range f.links {
		if f.links[i].Token == token {
			f.links[i].Opened = now
			f.links[i].Opens++
			f.openings[token] = opening{now, f.openings[token].times + 1}
		}
	}
	if now.Sub(f.saved) < openedEvery {
		return nil
	}
	return f.changing(f.saveLinks)
}
