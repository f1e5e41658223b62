package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"golang.org/x/crypto/bcrypt"

	"stallmark/web"
	"stallmark/web/access"
)

// route is a path of the router and its method.
type route struct{ method, pattern string }

// routesOf walks a router, so that no new path is forgotten.
func routesOf(t *testing.T, h http.Handler) (all []route) {
	t.Helper()
	router, ok := h.(chi.Routes)
	if !ok {
		t.Fatalf("%T is no router", h)
	}
	err := chi.Walk(router, func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		all = append(all, route{method, pattern})
		return nil
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("%d routes: %v", len(all), err)
	}
	return all
}

// filled is a path of a pattern: of this snapshot and this link.
func filled(pattern, id, name string) string {
	path := strings.NewReplacer("{id}", id, "{name}", name, "{token}", strings.Repeat("0", 32), "*", "findings").Replace(pattern)
	if strings.HasPrefix(pattern, "/signatures/") {
		return "/signatures/dirty-throttling"
	}
	return path
}

// withToken asks for a path and shows a link's token in every way there is.
func (s *sharingSite) withToken(method, path, token string) *httptest.ResponseRecorder {
	form := url.Values{"token": {token}, "from": {"0"}, "to": {"1"}}
	r := httptest.NewRequest(method, path+"?token="+token, strings.NewReader(form.Encode()))
	if method == http.MethodGet {
		r.Body = http.NoBody
	}
	r.Host = "127.0.0.1:8411"
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Cookie", "stallmark-admin="+token+"; token="+token)
	r.Header.Set("Referer", "http://127.0.0.1:8411/s/"+token)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// TestLinkTokenOpensNothingElse asks for every path of the router with a link's
// token: where passwords are asked for, none opens; where they are not, none
// changes anything.
func TestLinkTokenOpensNothingElse(t *testing.T) {
	hash, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	guarded := func(c *web.Config) { c.Basic = access.NewBasic(map[string]string{"ann": string(hash)}, c.Now) }
	for name, change := range map[string]func(*web.Config){"with passwords": guarded, "open": nil} {
		t.Run(name, func(t *testing.T) {
			s := sharingOf(t, change)
			path := s.frozen(t)
			token := strings.TrimPrefix(s.linked(t, path), "/s/")
			id := strings.TrimPrefix(path, "/snapshots/")
			link := s.folder.Links(id)[0].Name()
			for _, one := range routesOf(t, s.Handler) {
				if strings.HasPrefix(one.pattern, "/assets/") || one.pattern == "/favicon.ico" {
					continue
				}
				s.later += 3e9
				at := filled(one.pattern, id, link)
				w := s.withToken(one.method, at, token)
				switch {
				case strings.HasPrefix(at, "/s/"):
					if w.Code != http.StatusNotFound {
						t.Errorf("%s %s, another link: status %d", one.method, at, w.Code)
					}
				case change != nil && w.Code != http.StatusUnauthorized:
					t.Errorf("%s %s: status %d, want 401", one.method, at, w.Code)
				case one.method != http.MethodGet && w.Code < 400:
					t.Errorf("%s %s: status %d", one.method, at, w.Code)
				}
				if change != nil && strings.Contains(w.Body.String(), "broker-07") {
					t.Errorf("%s %s tells the host's name", one.method, at)
				}
			}
			if list, _ := s.folder.List(); len(list) != 1 || len(s.folder.Links(id)) != 1 {
				t.Error("something has changed")
			}
		})
	}
}

// TestPathsBelowALink holds the paths that a link opens to this list, and asks
// below it for every path of the router.
func TestPathsBelowALink(t *testing.T) {
	h, err := web.ShowSnapshot(frozenScene(t, "stalling"), web.Sight{Base: "/s/x"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"", "/api/v1/incidents/{id}/postmortem", "/findings", "/findings/{id}", "/incidents", "/incidents/{id}", "/jvm", "/logs", "/signatures/{id}",
	}
	var got []string
	for _, one := range routesOf(t, h) {
		if one.method != http.MethodGet {
			t.Errorf("%s %s", one.method, one.pattern)
		}
		got = append(got, strings.TrimPrefix(one.pattern, "/s/x"))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("a link opens %q, want %q", got, want)
	}
	s := sharingOf(t, nil)
	path := s.frozen(t)
	link := s.linked(t, path)
	id := strings.TrimPrefix(path, "/snapshots/")
	for _, one := range routesOf(t, s.Handler) {
		at := filled(one.pattern, id, "x")
		if slices.Contains(want, one.pattern) || slices.Contains(want, strings.TrimSuffix(one.pattern, "/")) {
			continue
		}
		s.later += 1e9
		if w := s.get(t, link+at); w.Code != http.StatusNotFound {
			t.Errorf("%s below a link: status %d", at, w.Code)
		}
	}
}

// TestTokensStayOutOfTheLog asks for links, good and bad, with a log of all.
func TestTokensStayOutOfTheLog(t *testing.T) {
	s := sharingOf(t, nil)
	link := s.linked(t, s.frozen(t))
	for _, p := range []string{"", "/nothing", "/findings/none", "?from=x"} {
		s.get(t, link+p)
	}
	if text := s.log.String(); strings.Contains(text, link[3:]) || !strings.Contains(text, "/s/TOKEN/") {
		t.Errorf("the log: %s", text)
	}
}

// TestManyWrongLinksHoldUpNobody tries links at random: the good one opens.
func TestManyWrongLinksHoldUpNobody(t *testing.T) {
	s := sharingOf(t, nil)
	link := s.linked(t, s.frozen(t))
	codes := map[int]int{}
	for range 200 {
		codes[s.get(t, "/s/"+strings.Repeat("0", 32)).Code]++
	}
	if codes[http.StatusTooManyRequests] < 100 || codes[http.StatusNotFound] == 0 {
		t.Errorf("wrong links: %v", codes)
	}
	if w := s.get(t, link); w.Code != http.StatusOK {
		t.Errorf("the good one: status %d", w.Code)
	}
	s.post(t, "/login", url.Values{"token": {"wrong"}}, "X", "y")
	for range 50 {
		s.later -= 60e9
		s.post(t, "/login", url.Values{"token": {"wrong"}}, "X", "y")
	}
	s.frozen(t) // wrong tokens do not keep the owner from freezing
}
