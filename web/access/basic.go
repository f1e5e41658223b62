package access

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// Bounds of comparing passwords: each comparison takes tens of milliseconds of a
// CPU that the broker needs. One is under way at a time; an address has some
// tries and one more every two seconds.
const (
	maxPassword = 72 // bytes that bcrypt looks at
	triesAtOnce = 10
	tryEvery    = 2 * time.Second
)

// Basic asks for a name and a password.
type Basic struct {
	users map[string]string
	decoy string // compared where there is no such name, so that both take as long
	key   [32]byte
	seat  chan struct{}
	tries tries
	mu    sync.Mutex
	right map[[32]byte]bool // passwords that were right, no more than there are users
}

// NewBasic makes it of bcrypt hashes by name.
func NewBasic(users map[string]string, now func() time.Time) *Basic {
	b := &Basic{
		users: users, seat: make(chan struct{}, 1), right: map[[32]byte]bool{},
		tries: tries{now: now, every: tryEvery, burst: triesAtOnce, full: map[string]time.Time{}},
	}
	rand.Read(b.key[:]) //nolint:errcheck // never fails (crypto/rand, Go 1.24)
	for _, hash := range users {
		b.decoy = hash
		break
	}
	return b
}

// Wrap lets through who knows a password.
func (b *Basic) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, password, ok := r.BasicAuth()
		if !ok {
			refuse(w)
			return
		}
		right, tooMany := b.check(r, name, password)
		switch {
		case tooMany:
			w.Header().Set("Retry-After", strconv.Itoa(int(tryEvery.Seconds())))
			http.Error(w, "429: too many passwords from this address, wait some seconds", http.StatusTooManyRequests)
		case !right:
			refuse(w)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func refuse(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", `Basic realm="stallmark", charset="UTF-8"`)
	http.Error(w, "401: name and password, please", http.StatusUnauthorized)
}

// check compares a password, unless it is known to be right, or its address has
// had too many compared.
func (b *Basic) check(r *http.Request, name, password string) (right, tooMany bool) {
	hash, known := b.users[name]
	if !known {
		hash = b.decoy
	}
	key := b.keyOf(name, hash, password)
	b.mu.Lock()
	right = b.right[key]
	b.mu.Unlock()
	if right {
		return true, false
	}
	if !b.tries.allow(r.RemoteAddr) {
		return false, true
	}
	select {
	case b.seat <- struct{}{}:
	case <-r.Context().Done():
		return false, true
	}
	right = len(password) <= maxPassword && bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil && known
	<-b.seat
	if right {
		b.mu.Lock()
		b.right[key] = true
		b.mu.Unlock()
	}
	return right, false
}

// keyOf is under what a comparison is remembered: no password is kept.
func (b *Basic) keyOf(name, hash, password string) [32]byte {
	mac := hmac.New(sha256.New, b.key[:])
	for _, part := range []string{name, hash, password} {
		sum := sha256.Sum256([]byte(part))
		mac.Write(sum[:])
	}
	var key [32]byte
	mac.Sum(key[:0])
	return key
}
