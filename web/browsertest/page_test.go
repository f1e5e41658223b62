package browsertest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"stallmark/web"
	"stallmark/web/gallery"
)

// TestPagesInChromium loads every page, at laptop and phone size, by day and by
// night: no console message, no policy violation, nothing wider than the screen,
// no text smaller than 11 pixels.
func TestPagesInChromium(t *testing.T) {
	c := browser(t)
	for _, name := range []string{"stalling", "hostile", "denied", "many-disks"} {
		s, ok := gallery.Find(name)
		if !ok {
			t.Fatalf("no scene %s", name)
		}
		_, url := serve(t, s)
		for i, path := range []string{"/", "/findings", "/findings/f-dirty", "/disks", "/signatures", "/signatures/dirty-throttling", "/audit", "/status"} {
			if strings.HasPrefix(path, "/findings/") && name != "stalling" && name != "hostile" {
				continue
			}
			v := views()[i%2*3] // a laptop and a phone in turn
			p := c.open(t, v.width, v.height, v.scheme)
			p.visit(url + path)
			if got := p.eval(`document.getElementById("page") !== null`); got != "true" {
				t.Errorf("%s%s: no page", name, path)
			}
			if got := p.eval(`document.documentElement.scrollWidth <= innerWidth`); got != "true" {
				t.Errorf("%s%s at %s: wider than the screen by %s", name, path, v.name, p.eval(`document.documentElement.scrollWidth - innerWidth`))
			}
			if small := p.eval(smallText); small != "" {
				t.Errorf("%s%s at %s: text smaller than 11 px: %s", name, path, v.name, small)
			}
			p.clean()
		}
	}
}

// smallText finds text whose size on the screen is under 11 pixels.
const smallText = `[...document.querySelectorAll("body *")].filter((el) =>
	[...el.childNodes].some((n) => n.nodeType === 3 && n.nodeValue.trim()) && el.getClientRects().length > 0 &&
	!["SCRIPT", "STYLE", "title", "desc"].includes(el.nodeName) &&
	parseFloat(getComputedStyle(el).fontSize) * (el.getScreenCTM ? el.getScreenCTM().a : 1) < 11).map((el) => el.outerHTML.slice(0, 120)).join("; ")`

// TestLiveUpdate sees the verdict change without a reload, and keeps what the
// reader has opened, focused and scrolled to.
func TestLiveUpdate(t *testing.T) {
	c := browser(t)
	b, url := serve(t, gallery.Calm())
	p := c.open(t, 1440, 900, "light")
	p.visit(url + "/")
	p.eval(`(window.same = true, document.querySelector("#more-checked summary").click(), document.querySelector("#more-checked summary").focus(), scrollTo(0, 200))`)
	if got := p.eval(`document.querySelector(".verdict h1").textContent`); got != "No known stall" {
		t.Fatalf("the page begins with %q", got)
	}
	b.Set(gallery.Stalling())
	p.until(`document.querySelector(".verdict.stalling h1")?.textContent.includes("Writers are paused")`)
	if got := p.eval(`window.same`); got != "true" {
		t.Error("the page was reloaded")
	}
	if got := p.eval(`document.getElementById("more-checked").open`); got != "true" {
		t.Error("open details were closed")
	}
	if got := p.eval(`document.activeElement.closest("details")?.id`); got != "more-checked" {
		t.Errorf("the focus is on %q", got)
	}
	// The browser moves on by as much as the banner has grown, so that what the
	// reader looks at stays in its place.
	if got := p.eval(`scrollY >= 200`); got != "true" {
		t.Errorf("scrolled to %s", p.eval(`scrollY`))
	}
	if got := p.eval(`document.getElementById("announce").textContent`); !strings.HasPrefix(got, "Stalling: Writers are paused") {
		t.Errorf("screen readers hear %q", got)
	}
	if got := p.eval(`document.title`); !strings.HasPrefix(got, "Stalling · broker-07") {
		t.Errorf("the tab is titled %q", got)
	}
	p.clean()
}

// TestConnectionLost says so while Stallmark is away, and goes on when it is
// back.
func TestConnectionLost(t *testing.T) {
	c := browser(t)
	b := gallery.New(gallery.Calm())
	h, err := web.New(web.Config{Backend: b, Host: "broker-07", Now: b.Now, Audit: b.Audit, PageCache: b})
	if err != nil {
		t.Fatal(err)
	}
	var away atomic.Bool
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() {
			panic(http.ErrAbortHandler) // the connection breaks
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	p := c.open(t, 1440, 900, "dark")
	p.visit(srv.URL + "/")
	away.Store(true)
	p.until(`!document.getElementById("notice").hidden && document.getElementById("notice").textContent.includes("No answer from Stallmark")`)
	away.Store(false)
	b.Set(gallery.Stalling())
	p.until(`document.getElementById("notice").hidden && document.querySelector(".verdict.stalling")`)
	p.clean("net::ERR_") // the browser's own lines about the broken connection
}

// TestWithoutScripts is the same page with scripts off: it is readable and
// renews itself.
func TestWithoutScripts(t *testing.T) {
	c := browser(t)
	b, url := serve(t, gallery.Calm())
	p := c.open(t, 1440, 900, "light")
	p.do("Emulation.setScriptExecutionDisabled", object{"value": true})
	p.visit(url + "/")
	if got := p.html(); !strings.Contains(got, "No known stall") || !strings.Contains(got, `http-equiv="refresh"`) {
		t.Fatalf("without scripts the page is %.500s", got)
	}
	if strings.Contains(p.html(), `class="copy">`) {
		t.Error("a copy button that cannot work is shown")
	}
	b.Set(gallery.Stalling())
	p.waitLoad() // by itself
	if got := p.html(); !strings.Contains(got, "Writers are paused at the dirty-page limit") {
		t.Error("the renewed page does not show the stall")
	}
	p.clean()
}

// TestGarnish tries crosshair, copy, zoom, keys and local time.
func TestGarnish(t *testing.T) {
	c := browser(t)
	_, url := serve(t, gallery.Stalling())
	p := c.open(t, 1440, 900, "light")
	p.do("Emulation.setTimezoneOverride", object{"timezoneId": "Asia/Kolkata"})
	p.visit(url + "/?tz=local")
	if got := p.eval(`document.querySelector(".verdict time").textContent`); got != "08:42:41" {
		t.Errorf("03:12:41 UTC in India is %q", got)
	}
	p.visit(url + "/")
	p.mouse("mouseMoved", `.plot`, 0.9)
	p.until(`document.querySelectorAll(".plot .cross").length > 5`)
	if got := p.eval(`document.querySelector(".chart .val").textContent`); !strings.HasPrefix(got, "03:13:1") || !strings.Contains(got, "4.") {
		t.Errorf("under the crosshair: %q", got)
	}
	p.eval(`document.querySelector(".copy").click()`)
	p.until(`document.querySelector(".copy").textContent !== "Copy"`)

	p.mouse("mouseMoved", `.plot`, 0.5)
	p.mouse("mousePressed", `.plot`, 0.5)
	p.mouse("mouseMoved", `.plot`, 0.75)
	p.mouse("mouseReleased", `.plot`, 0.75)
	p.until(`location.search.includes("from=") && location.search.includes("to=")`)
	p.until(`document.readyState === "complete" && document.querySelector(".time .fixed")`)
	if got := p.eval(`Math.round((new URLSearchParams(location.search).get("to") - new URLSearchParams(location.search).get("from")) / 1000)`); got != "225" {
		t.Errorf("a quarter of 15 min is %s s", got)
	}
	p.do("Input.dispatchKeyEvent", object{"type": "keyDown", "key": "?", "text": "?"})
	p.until(`document.getElementById("keys").open`)
	p.do("Input.dispatchKeyEvent", object{"type": "keyDown", "key": "f", "text": "f"})
	p.do("Input.dispatchKeyEvent", object{"type": "keyDown", "key": "Escape", "windowsVirtualKeyCode": 27})
	p.until(`!document.getElementById("keys").open`)
	if got := p.eval(`location.pathname`); got != "/" {
		t.Errorf("a key under the list of keys leads to %s", got)
	}
	p.do("Input.dispatchKeyEvent", object{"type": "keyDown", "key": "2", "text": "2"})
	p.until(`location.search === "?range=1h"`)
	p.clean()
}
