package access

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/crypto/bcrypt"
)

// Config is a Prometheus web configuration file. Keys that it does not know are
// mistakes: somebody relies on what they say.
type Config struct {
	TLS   *TLS              `yaml:"tls_server_config"`
	HTTP  HTTP              `yaml:"http_server_config"`
	Users map[string]string `yaml:"basic_auth_users"` // bcrypt hashes by name
}

// TLS is the section tls_server_config. Paths are relative to the file.
type TLS struct {
	CertFile     string   `yaml:"cert_file"`
	KeyFile      string   `yaml:"key_file"`
	ClientAuth   string   `yaml:"client_auth_type"`
	ClientCAs    string   `yaml:"client_ca_file"`
	AllowedSANs  []string `yaml:"client_allowed_sans"`
	MinVersion   string   `yaml:"min_version"`
	MaxVersion   string   `yaml:"max_version"`
	CipherSuites []string `yaml:"cipher_suites"`
	Curves       []string `yaml:"curve_preferences"`
	PreferServer bool     `yaml:"prefer_server_cipher_suites"` // as Go itself does since 1.17
}

// HTTP is the section http_server_config.
type HTTP struct {
	HTTP2   *bool             `yaml:"http2"`
	Headers map[string]string `yaml:"headers"`
}

// Load reads a configuration file and checks all of it: certificates are read,
// hashes are hashes.
func Load(path string) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c := &Config{}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(c); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if c.TLS != nil {
		c.TLS.relativeTo(filepath.Dir(path))
		if _, err := c.TLS.Config(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return c, nil
}

// allowedHeaders are those that the file may set. The page's own policy is
// stricter than what a file could say about it.
var allowedHeaders = []string{"Strict-Transport-Security"}

func (c *Config) check() error {
	for name, hash := range c.Users {
		if name == "" || strings.ContainsAny(name, ":\n") {
			return fmt.Errorf("basic_auth_users: %q is no name", name)
		}
		if _, err := bcrypt.Cost([]byte(hash)); err != nil {
			return fmt.Errorf("basic_auth_users: %s: want a bcrypt hash, as htpasswd -nBC 10 \"\" | tr -d ':\\n' makes it", name)
		}
	}
	for name := range c.HTTP.Headers {
		if !slices.Contains(allowedHeaders, http.CanonicalHeaderKey(name)) {
			return fmt.Errorf("http_server_config: header %q: only %s may be set", name, strings.Join(allowedHeaders, ", "))
		}
	}
	return nil
}

// Guards reports whether the file keeps strangers out.
func (c *Config) Guards() bool {
	return len(c.Users) > 0 || c.TLS != nil && clientAuth[c.TLS.ClientAuth] >= tls.RequireAnyClientCert
}

func (t *TLS) relativeTo(dir string) {
	for _, p := range []*string{&t.CertFile, &t.KeyFile, &t.ClientCAs} {
		if *p != "" && !filepath.IsAbs(*p) {
			*p = filepath.Join(dir, *p)
		}
	}
}

var clientAuth = map[string]tls.ClientAuthType{
	"": tls.NoClientCert, "NoClientCert": tls.NoClientCert, "RequestClientCert": tls.RequestClientCert,
	"RequireAnyClientCert": tls.RequireAnyClientCert, "VerifyClientCertIfGiven": tls.VerifyClientCertIfGiven,
	"RequireAndVerifyClientCert": tls.RequireAndVerifyClientCert,
}

var versions = map[string]uint16{
	"TLS10": tls.VersionTLS10, "TLS11": tls.VersionTLS11, "TLS12": tls.VersionTLS12, "TLS13": tls.VersionTLS13,
}

var curves = map[string]tls.CurveID{
	"CurveP256": tls.CurveP256, "CurveP384": tls.CurveP384, "CurveP521": tls.CurveP521, "X25519": tls.X25519,
}

// Config is the section as crypto/tls wants it. The certificate is read anew for
// each connection, so that a renewed one needs no restart.
func (t *TLS) Config() (*tls.Config, error) {
	if t.CertFile == "" || t.KeyFile == "" {
		return nil, errors.New("tls_server_config: want cert_file and key_file")
	}
	if _, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile); err != nil {
		return nil, fmt.Errorf("tls_server_config: %w", err)
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		return &pair, err
	}}
	var ok bool
	if c.ClientAuth, ok = clientAuth[t.ClientAuth]; !ok {
		return nil, fmt.Errorf("tls_server_config: client_auth_type %q: want one of crypto/tls", t.ClientAuth)
	}
	if err := t.clients(c); err != nil {
		return nil, err
	}
	return c, t.ciphers(c)
}

// clients sets who may connect.
func (t *TLS) clients(c *tls.Config) error {
	if t.ClientCAs != "" {
		pem, err := os.ReadFile(t.ClientCAs)
		if err != nil {
			return fmt.Errorf("tls_server_config: client_ca_file: %w", err)
		}
		c.ClientCAs = x509.NewCertPool()
		if !c.ClientCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("tls_server_config: client_ca_file %s: no certificate in it", t.ClientCAs)
		}
	} else if c.ClientAuth >= tls.VerifyClientCertIfGiven {
		return errors.New("tls_server_config: client_auth_type needs client_ca_file")
	}
	if len(t.AllowedSANs) == 0 {
		return nil
	}
	if c.ClientAuth != tls.RequireAndVerifyClientCert {
		return errors.New("tls_server_config: client_allowed_sans needs client_auth_type RequireAndVerifyClientCert")
	}
	c.VerifyPeerCertificate = func(_ [][]byte, chains [][]*x509.Certificate) error {
		for _, chain := range chains {
			if len(chain) > 0 && t.allowed(chain[0]) {
				return nil
			}
		}
		return errors.New("the client's certificate has no allowed name")
	}
	return nil
}

// allowed reports whether a certificate has one of the allowed names.
func (t *TLS) allowed(cert *x509.Certificate) bool {
	names := slices.Concat(cert.DNSNames, cert.EmailAddresses)
	for _, ip := range cert.IPAddresses {
		names = append(names, ip.String())
	}
	for _, u := range cert.URIs {
		names = append(names, u.String())
	}
	return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(t.AllowedSANs, n) })
}

// ciphers sets versions, suites and curves.
func (t *TLS) ciphers(c *tls.Config) error {
	for _, v := range []struct {
		name, text string
		into       *uint16
	}{{"min_version", t.MinVersion, &c.MinVersion}, {"max_version", t.MaxVersion, &c.MaxVersion}} {
		if v.text == "" {
			continue
		}
		n, ok := versions[v.text]
		if !ok {
			return fmt.Errorf("tls_server_config: %s %q: want TLS10, TLS11, TLS12 or TLS13", v.name, v.text)
		}
		*v.into = n
	}
	for _, name := range t.CipherSuites {
		i := slices.IndexFunc(tls.CipherSuites(), func(s *tls.CipherSuite) bool { return s.Name == name })
		if i < 0 {
			return fmt.Errorf("tls_server_config: cipher_suites: %q is not one of the secure ones of this program", name)
		}
		c.CipherSuites = append(c.CipherSuites, tls.CipherSuites()[i].ID)
	}
	for _, name := range t.Curves {
		curve, ok := curves[name]
		if !ok {
			return fmt.Errorf("tls_server_config: curve_preferences: unknown curve %q", name)
		}
		c.CurvePreferences = append(c.CurvePreferences, curve)
	}
	return nil
}
