package access

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"sync"

	"golang.org/x/crypto/bcrypt"
)

// maxRemembered bounds the passwords whose comparison is remembered, maxAtOnce
// the comparisons under way: each takes tens of milliseconds of a CPU that the
// broker needs.
const (
	maxRemembered = 256
	maxAtOnce     = 2
	maxPassword   = 72 // bytes that bcrypt looks at
)

// Basic asks for a name and a password.
type Basic struct {
	users   map[string]string
	decoy   string // compared where there is no such name, so that both take as long
	key     [32]byte
	seats   chan struct{}
	mu      sync.Mutex
	answers map[[32]byte]bool
}

// NewBasic makes it of bcrypt hashes by name.
func NewBasic(users map[string]string) *Basic {
	b := &Basic{users: users, seats: make(chan struct{}, maxAtOnce), answers: map[[32]byte]bool{}}
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
		if !ok || !b.Check(r, name, password) {
			w.Header().Set("WWW-Authenticate", `Basic realm="stallmark", charset="UTF-8"`)
			http.Error(w, "401: name and password, please", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Check compares a password, or remembers how that ended the last time.
func (b *Basic) Check(r *http.Request, name, password string) bool {
	hash, known := b.users[name]
	if !known {
		hash = b.decoy
	}
	key := b.keyOf(name, hash, password)
	b.mu.Lock()
	answer, ok := b.answers[key]
	b.mu.Unlock()
	if !ok {
		select {
		case b.seats <- struct{}{}:
		case <-r.Context().Done():
			return false
		}
		answer = len(password) <= maxPassword && bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil
		<-b.seats
		b.remember(key, answer)
	}
	return answer && known
}

func (b *Basic) remember(key [32]byte, answer bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.answers) >= maxRemembered {
		clear(b.answers)
	}
	b.answers[key] = answer
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
