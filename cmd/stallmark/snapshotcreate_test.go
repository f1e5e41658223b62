package main

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stallmark/web/access"
)

// answering freezes nothing and says that it did, to who has the token.
func answering(t *testing.T, token string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/api/v1/snapshots" || r.FormValue("from") == "" {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"error":{"message":"no"}}`)
			return
		}
		fmt.Fprint(w, `{"id":"abc"}`)
	})
}

// certified writes a web configuration file with the certificate of a server.
func certified(t *testing.T, srv *httptest.Server) string {
	t.Helper()
	dir := t.TempDir()
	pair := srv.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"cert": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}),
		"key":  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
		"web":  []byte("tls_server_config: {cert_file: cert, key_file: key}\n"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "web")
}

// TestSnapshotCreateAsksTheService asks by HTTP, by HTTPS with a certificate that
// only the configuration file knows, and one that has another.
func TestSnapshotCreateAsksTheService(t *testing.T) {
	data := t.TempDir()
	admin, err := access.NewAdmin(data)
	if err != nil {
		t.Fatal(err)
	}
	plain := httptest.NewServer(answering(t, admin.Token()))
	defer plain.Close()
	secure := httptest.NewTLSServer(answering(t, admin.Token()))
	defer secure.Close()
	users := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(users, []byte("basic_auth_users: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(srv *httptest.Server) string { return srv.Listener.Addr().String() }
	for name, args := range map[string][]string{
		"plain":         {"--listen", at(plain)},
		"everywhere":    {"--listen", strings.Replace(at(plain), "127.0.0.1", "0.0.0.0", 1)},
		"users, no TLS": {"--listen", at(plain), "--web-config", users},
		"TLS":           {"--listen", at(secure), "--web-config", certified(t, secure)},
	} {
		got := runProgram(t, append([]string{"snapshot", "create", "--data", data}, args...)...)
		if got.code != exitOK || got.stdout != "abc\n" || !strings.Contains(got.stderr, "/snapshots/abc") {
			t.Errorf("%s: code %d: %s%s", name, got.code, got.stdout, got.stderr)
		}
	}
	other := httptest.NewUnstartedServer(answering(t, admin.Token()))
	other.StartTLS()
	defer other.Close()
	if got := runProgram(t, "snapshot", "create", "--data", data, "--listen", at(other)); got.code != exitUsage {
		t.Errorf("HTTPS asked for by HTTP: code %d: %s", got.code, got.stdout)
	}
}

// TestSnapshotCreateMakesNoToken asks where no service has run: the command must
// not make the token that it wants to show.
func TestSnapshotCreateMakesNoToken(t *testing.T) {
	data := t.TempDir()
	got := runProgram(t, "snapshot", "create", "--data", data, "--listen", "127.0.0.1:1")
	if got.code != exitUsage || !strings.Contains(got.stderr, "--data") {
		t.Errorf("code %d: %s", got.code, got.stderr)
	}
	if _, err := os.Stat(filepath.Join(data, access.TokenFile)); err == nil {
		t.Error("a token was made")
	}
}
