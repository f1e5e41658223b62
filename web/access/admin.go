package access

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// TokenFile is the name of the file with the admin token, in the data folder.
const TokenFile = "admin-token"

// cookieName holds the proof that a browser has shown the token.
const cookieName = "stallmark-admin"

// cookieFor is how long a browser need not show it again.
const cookieFor = 30 * 24 * time.Hour

// Admin knows who may change something.
type Admin struct{ token string }

// NewAdmin reads the token of a data folder, or makes one: 128 random bits in a
// file that only this user may read. A file that others may read is refused.
func NewAdmin(dir string) (*Admin, error) {
	a, err := ReadAdmin(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return makeAdmin(filepath.Join(dir, TokenFile))
	}
	return a, err
}

// ReadAdmin reads the token of a data folder; fs.ErrNotExist if there is none.
func ReadAdmin(dir string) (*Admin, error) {
	path := filepath.Join(dir, TokenFile)
	data, err := readPrivate(path)
	if err != nil {
		return nil, err
	}
	token := strings.TrimSpace(string(data))
	if len(token) != 32 || strings.Trim(token, "0123456789abcdef") != "" {
		return nil, fmt.Errorf("%s: want 32 hexadecimal digits; delete it and a new token is made", path)
	}
	return &Admin{token}, nil
}

func readPrivate(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s: others may read it (mode %o): chmod 600", path, st.Mode().Perm())
	}
	data := make([]byte, 128)
	n, err := f.Read(data)
	return data[:n], err
}

func makeAdmin(path string) (*Admin, error) {
	var random [16]byte
	rand.Read(random[:]) //nolint:errcheck // never fails (crypto/rand, Go 1.24)
	token := hex.EncodeToString(random[:])
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(token + "\n")
	return &Admin{token}, errors.Join(err, f.Sync(), f.Close())
}

// Token is what the start-up prints.
func (a *Admin) Token() string { return a.token }

// Knows reports whether a token is the right one, in constant time.
func (a *Admin) Knows(token string) bool {
	x, y := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(a.token))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// Allowed reports whether a request may change something: by its cookie, or by
// "Authorization: Bearer TOKEN" from a command.
func (a *Admin) Allowed(r *http.Request) bool {
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return a.Knows(strings.TrimSpace(bearer))
	}
	c, err := r.Cookie(cookieName)
	return err == nil && subtle.ConstantTimeCompare([]byte(c.Value), []byte(a.proof())) == 1
}

// proof is what the cookie holds: it shows that its browser knew the token, and
// does not tell it.
func (a *Admin) proof() string {
	mac := hmac.New(sha256.New, []byte(a.token))
	mac.Write([]byte("cookie"))
	return hex.EncodeToString(mac.Sum(nil))
}

// Remember gives the browser the cookie. No other site's page can send it, and
// no script can read it.
func (a *Admin) Remember(w http.ResponseWriter, secure bool) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: a.proof(), Path: "/", MaxAge: int(cookieFor.Seconds()), HttpOnly: true, Secure: secure, SameSite: http.SameSiteStrictMode,
	})
}

// Forget takes the cookie back.
func (a *Admin) Forget(w http.ResponseWriter) {
	http.SetCookie(w, &http.Cookie{Name: cookieName, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode})
}
