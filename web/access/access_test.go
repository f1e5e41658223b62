package access

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
)

func hashOf(t *testing.T, password string) string {
	t.Helper()
	h, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return string(h)
}

// writePair makes a certificate and its key in dir.
func writePair(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "broker"}, DNSNames: []string{"broker"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "EC PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLoad(t *testing.T) {
	hash := hashOf(t, "secret")
	tests := []struct {
		name, text, want string // want is part of the error
		guards           bool
	}{
		{"empty", "", "", false},
		{"users", "basic_auth_users:\n  ann: " + hash + "\n", "", true},
		{"tls", "tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\n  min_version: TLS13\n", "", false},
		{"clients", "tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\n  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: cert.pem\n  client_allowed_sans: [broker]\n", "", true},
		{"headers", "http_server_config:\n  http2: true\n  headers:\n    Strict-Transport-Security: max-age=1\n", "", false},
		{"unknown key", "basic_auth_user:\n  ann: x\n", "basic_auth_user", false},
		{"plain password", "basic_auth_users:\n  ann: secret\n", "bcrypt", false},
		{"no key", "tls_server_config:\n  cert_file: cert.pem\n", "key_file", false},
		{"missing file", "tls_server_config:\n  cert_file: nope.pem\n  key_file: key.pem\n", "nope.pem", false},
		{"version", "tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\n  min_version: SSL3\n", "SSL3", false},
		{"cipher", "tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\n  cipher_suites: [TLS_RSA_WITH_RC4_128_SHA]\n", "RC4", false},
		{"client type", "tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\n  client_auth_type: Maybe\n", "Maybe", false},
		{"no ca", "tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\n  client_auth_type: RequireAndVerifyClientCert\n", "client_ca_file", false},
		{"header", "http_server_config:\n  headers:\n    Content-Security-Policy: none\n", "Content-Security-Policy", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			writePair(t, dir)
			path := filepath.Join(dir, "web.yml")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := Load(path)
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
					t.Errorf("got %v, want %q", err, tt.want)
				}
				return
			}
			if err != nil || c.Guards() != tt.guards {
				t.Errorf("guards %v: %v", c.Guards(), err)
			}
		})
	}
}

func TestBasic(t *testing.T) {
	b := NewBasic(map[string]string{"ann": hashOf(t, "secret")}, func() time.Time { return time.Unix(0, 0) })
	calls := 0
	h := b.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls++ }))
	for _, tt := range []struct {
		name, password string
		want           int
	}{
		{"ann", "secret", 200},
		{"ann", "secret", 200},
		{"ann", "Secret", 401},
		{"ann", "", 401},
		{"bob", "secret", 401},
		{"", "", 401},
		{"ann", strings.Repeat("x", 100), 401},
		{"bob", "secret", 401},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		if tt.name != "" {
			r.SetBasicAuth(tt.name, tt.password)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tt.want || (w.Code == 401) != (w.Header().Get("WWW-Authenticate") != "") {
			t.Errorf("%s %s: %d, want %d", tt.name, tt.password, w.Code, tt.want)
		}
	}
	if calls != 2 {
		t.Errorf("let through %d times", calls)
	}
	for key := range b.right {
		if strings.Contains(string(key[:]), "secret") {
			t.Error("a password is kept")
		}
	}
	if len(b.right) != 1 {
		t.Errorf("%d passwords are remembered, want the right one", len(b.right))
	}
}

// TestWrongPasswordsAreLimited tries many from one address: others, and who was
// let in before, do not suffer.
func TestWrongPasswordsAreLimited(t *testing.T) {
	at := time.Unix(0, 0)
	b := NewBasic(map[string]string{"ann": hashOf(t, "secret")}, func() time.Time { return at })
	h := b.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	try := func(remote, password string) int {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = remote
		r.SetBasicAuth("ann", password)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	const here, there = "[2001:db8::1]:5000", "192.0.2.9:5000"
	if got := try(here, "secret"); got != 200 {
		t.Fatalf("the right one: %d", got)
	}
	codes := map[int]int{}
	for i := range 30 {
		codes[try(fmt.Sprintf("[2001:db8::%x]:5000", i+1), fmt.Sprint("wrong", i))]++
	}
	if codes[401] != triesAtOnce-1 || codes[429] != 30-codes[401] {
		t.Errorf("30 wrong passwords from a network: %v", codes)
	}
	if try(here, "secret") != 200 || try(there, "wrong") != 401 || try(there, "secret") != 200 {
		t.Error("others suffer")
	}
	at = at.Add(tryEvery + time.Millisecond)
	if got := try(here, "wrong"); got != 401 {
		t.Errorf("after a while: %d", got)
	}
}

func TestTriesAreBounded(t *testing.T) {
	b := NewBasic(nil, func() time.Time { return time.Unix(0, 0) })
	for i := range 3 * maxAddresses {
		b.tries.allow(fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255))
	}
	if n := len(b.tries.full); n > maxAddresses {
		t.Errorf("%d addresses are kept", n)
	}
}

func TestAdmin(t *testing.T) {
	dir := t.TempDir()
	a, err := NewAdmin(dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := NewAdmin(dir)
	if err != nil || again.Token() != a.Token() || len(a.Token()) != 32 {
		t.Fatalf("%v", err)
	}
	path := filepath.Join(dir, TokenFile)
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	w := httptest.NewRecorder()
	a.Remember(w, true)
	cookie := w.Result().Cookies()[0]
	if strings.Contains(cookie.Value, a.Token()) || !cookie.HttpOnly || !cookie.Secure || cookie.SameSite != http.SameSiteStrictMode {
		t.Errorf("cookie %+v", cookie)
	}
	request := func(change func(*http.Request)) *http.Request {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		change(r)
		return r
	}
	for name, tt := range map[string]struct {
		r    *http.Request
		want bool
	}{
		"nothing":      {request(func(*http.Request) {}), false},
		"cookie":       {request(func(r *http.Request) { r.AddCookie(cookie) }), true},
		"bearer":       {request(func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+a.Token()) }), true},
		"wrong bearer": {request(func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+strings.Repeat("0", 32)) }), false},
		"token cookie": {request(func(r *http.Request) { r.AddCookie(&http.Cookie{Name: cookieName, Value: a.Token()}) }), false},
	} {
		if got := a.Allowed(tt.r); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := NewAdmin(dir); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a token that others can read: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hostname", path); err != nil {
		t.Fatal(err)
	}
	if _, err := NewAdmin(dir); err == nil {
		t.Error("a symbolic link is followed")
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("basic_auth_users:\n  ann: x\n")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "web.yml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = Load(path)
	})
}
