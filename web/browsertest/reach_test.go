package browsertest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"stallmark/web"
	"stallmark/web/gallery"
)

// TestEveryScene loads every scene of the gallery on a phone by night, on a laptop
// by day and on paper: nothing beyond the screen, no small text, no table that is
// cut or squeezed, nothing to complain of.
func TestEveryScene(t *testing.T) {
	c := browser(t)
	tabs := map[size]*tab{}
	for _, v := range []size{{"laptop", 1440, 900, "light"}, {"phone", 390, 844, "dark"}, {"paper", 760, 1075, "print"}} {
		tabs[v] = c.open(t, v.width, v.height, v.scheme)
	}
	for _, name := range gallery.Names() {
		s, _ := gallery.Find(name)
		for _, path := range gallery.Paths(name) {
			_, url := serve(t, s) // one for each path: what is given to it is limited by rate
			for v, p := range tabs {
				p.visit(url + path)
				if beyond := p.eval(beyondScreen); beyond != "" {
					t.Errorf("%s%s on a %s: beyond the screen: %s", name, path, v.name, beyond)
				}
				if small := p.eval(smallText); small != "" {
					t.Errorf("%s%s on a %s: text smaller than 11 px: %s", name, path, v.name, small)
				}
				if cut := p.eval(squeezed); cut != "" {
					t.Errorf("%s%s on a %s: a table is cut or squeezed: %s", name, path, v.name, cut)
				}
				p.clean("status of 500", "status of 503", "status of 413", "status of 422", "status of 429") // a store that fails, texts that are refused
			}
		}
	}
}

// beyondScreen finds text that reaches out of the screen at the right, unless it
// can be scrolled to, or is meant to be unseen.
const beyondScreen = `(() => {
	const scrolls = (el) => el && (["auto", "scroll", "hidden"].includes(getComputedStyle(el).overflowX) && el !== document.body || scrolls(el.parentElement));
	return [...document.querySelectorAll("body *")].filter((el) =>
		[...el.childNodes].some((n) => n.nodeType === 3 && n.nodeValue.trim()) && !["SCRIPT", "STYLE", "title", "desc"].includes(el.nodeName) &&
		el.getClientRects().length > 0 && el.getBoundingClientRect().right > innerWidth + 0.5 && !el.closest(".skip, .unseen") && !scrolls(el)
	).map((el) => el.outerHTML.slice(0, 120)).join("; ") || (document.documentElement.scrollWidth > innerWidth ? "the page is wider than the screen" : "");
})()`

// squeezed finds tables that are wider than their place, and cells so narrow that
// their text falls into columns of letters.
const squeezed = `(() => {
	const seen = (el) => el.getClientRects().length > 0 && el.checkVisibility();
	const cut = [...document.querySelectorAll(".scroll")].filter((el) => seen(el) && el.scrollWidth > el.clientWidth + 1);
	const thin = [...document.querySelectorAll("th, td, dt, dd, .why, .what")].filter((el) => seen(el) && !el.closest("thead") &&
		el.textContent.trim().length > 8 && el.clientWidth < 64 && el.clientHeight > 5 * parseFloat(getComputedStyle(el).lineHeight));
	return [...cut, ...thin].map((el) => el.outerHTML.slice(0, 120)).join("; ");
})()`

// TestKeyboard walks over the page with the Tab key alone: it reaches links,
// commands, details and marks of charts; each has a name and shows that it is on.
func TestKeyboard(t *testing.T) {
	c := browser(t)
	_, url := serve(t, gallery.Stalling())
	p := c.open(t, 1440, 900, "dark")
	p.visit(url + "/")
	if got := p.eval(nameless); got != "" {
		t.Errorf("without a name: %s", got)
	}
	stops := int(mustNumber(t, p.eval(`[...document.querySelectorAll("a[href], button, summary")].filter((el) => !el.hidden && el.checkVisibility()).length`)))
	reached := map[string]bool{}
	for range stops + 2 {
		p.do("Input.dispatchKeyEvent", object{"type": "keyDown", "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9})
		p.do("Input.dispatchKeyEvent", object{"type": "keyUp", "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9})
		kind, shown, _ := strings.Cut(p.eval(focused), "|")
		reached[kind] = true
		if shown != "seen" && kind != "body" {
			t.Errorf("the focus on %s cannot be seen: %s", kind, shown)
		}
	}
	for _, want := range []string{"skip", "nav", "time", "verdict", "copy", "summary", "moment", "footer"} {
		if !reached[want] {
			t.Errorf("the Tab key does not reach %s; it reaches %v", want, reached)
		}
	}
	p.eval(`document.querySelector("a.moment").focus()`)
	p.do("Input.dispatchKeyEvent", object{"type": "keyDown", "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"})
	p.until(`location.hash === "#evidence-1-m"`)
	p.clean()
}

// focused says what kind of thing has the focus, and whether that can be seen.
const focused = `(() => {
	const el = document.activeElement;
	if (!el || el === document.body) return "body|seen";
	const kind = el.matches(".skip") ? "skip" : el.matches(".copy") ? "copy" : el.matches("summary") ? "summary" : el.matches(".moment") ? "moment" :
		el.closest("header nav") ? "nav" : el.closest(".time") ? "time" : el.closest(".verdict") ? "verdict" : el.closest("footer") ? "footer" : "other";
	const style = getComputedStyle(el);
	const marked = el.matches(".moment") ? getComputedStyle(el.querySelector("line")).strokeWidth === "2px" : style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
	const box = el.getBoundingClientRect();
	if (!marked) return kind + "|no outline on " + el.outerHTML.slice(0, 100);
	if (box.width < 1 || box.height < 1 || box.right < 1) return kind + "|no place on the screen: " + el.outerHTML.slice(0, 100);
	return kind + "|seen";
})()`

// nameless finds what can be used and has no name.
const nameless = `[...document.querySelectorAll("a[href], button, summary, svg[role=img]")].filter((el) =>
	!(el.textContent.trim() || el.getAttribute("aria-label") || el.getAttribute("aria-labelledby"))).map((el) => el.outerHTML.slice(0, 100)).join("; ")`

func mustNumber(t testing.TB, text string) float64 {
	t.Helper()
	var n float64
	if err := json.Unmarshal([]byte(text), &n); err != nil {
		t.Fatalf("%q is no number", text)
	}
	return n
}

// TestCopyWithoutClipboard copies over http from another host's name, where
// browsers offer no clipboard to scripts: a command, and a text that is folded.
func TestCopyWithoutClipboard(t *testing.T) {
	c := browser(t)
	b := gallery.New(gallery.Stalling())
	h, err := web.New(web.Config{Backend: b, Host: "broker-07", Now: b.Now, AllowedHosts: []string{"broker-07.example"}})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	p := c.open(t, 1440, 900, "light")
	p.visit(strings.Replace(srv.URL, "127.0.0.1", "broker-07.example", 1) + "/incidents/f-dirty")
	if got := p.eval(`navigator.clipboard === undefined && !isSecureContext`); got != "true" {
		t.Fatal("this browser offers the clipboard here, so this test shows nothing")
	}
	p.eval(`(document.addEventListener("copy", () => { const el = document.activeElement; window.copied = el.value ?? String(getSelection()); }), 0)`)
	for selector, want := range map[string]string{
		`.remedy .copy`:     "sysctl -w vm.dirty_bytes=2147483648 vm.dirty_background_bytes=268435456",
		`.postmortem .copy`: "# Post-mortem: ",
	} {
		p.eval(`(document.querySelector("` + selector + `").scrollIntoView({ block: "center" }), 0)`)
		p.click(selector)
		p.until(`document.querySelector("` + selector + `").textContent === "Copied"`)
		if got := p.eval(`window.copied`); !strings.HasPrefix(got, want) {
			t.Errorf("%s copies %.100q, want %q", selector, got, want)
		}
		if got := p.eval(`document.activeElement === document.querySelector("` + selector + `")`); got != "true" {
			t.Errorf("after %s the focus is elsewhere", selector)
		}
	}
	p.clean("Cross-Origin-Opener-Policy") // which plain http from another host cannot have
}

// click presses and releases the mouse in the middle of an element.
func (p *tab) click(selector string) {
	p.t.Helper()
	var at struct{ X, Y float64 }
	where := p.eval("(() => { const b = document.querySelector(`" + selector + "`).getBoundingClientRect(); return JSON.stringify({ x: b.x + b.width / 2, y: b.y + b.height / 2 }); })()")
	if err := json.Unmarshal([]byte(where), &at); err != nil {
		p.t.Fatal(err)
	}
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		p.do("Input.dispatchMouseEvent", object{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1})
	}
}

// TestQuietWhenHidden counts what a hidden tab asks for while another one goes
// on: nothing, and at once again when it is shown.
func TestQuietWhenHidden(t *testing.T) {
	c := browser(t)
	b := gallery.New(gallery.Calm())
	h, err := web.New(web.Config{Backend: b, Host: "broker-07", Now: b.Now})
	if err != nil {
		t.Fatal(err)
	}
	var hidden, shown atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Stallmark-Fragment") != "" {
			if r.URL.Query().Get("tz") == "utc" {
				hidden.Add(1)
			} else {
				shown.Add(1)
			}
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	const looks = `performance.getEntriesByType("resource").filter((e) => e.initiatorType === "fetch").length`
	away := c.open(t, 800, 600, "light")
	away.visit(srv.URL + "/?tz=utc")
	away.until(looks + ` >= 1`)
	here := c.open(t, 800, 600, "light") // before the other one
	here.visit(srv.URL + "/")
	away.until(`document.hidden`)
	before := hidden.Load()
	here.until(looks + ` >= 3`)
	if got := hidden.Load(); got > before+1 || shown.Load() < 3 { // one may have been under way
		t.Errorf("hidden, it asked %d times while the other asked %d times", got-before, shown.Load())
	}
	asked := away.eval(looks)
	away.do("Page.bringToFront", object{})
	away.until(`!document.hidden && ` + looks + ` > ` + asked)
	away.clean()
	here.clean()
}
