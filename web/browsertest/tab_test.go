package browsertest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// tab is one page of the browser. It collects everything that the browser
// complains about.
type tab struct {
	t       testing.TB
	c       *chromium
	session string
	loaded  chan struct{}

	mu         sync.Mutex
	complaints []string
}

type object map[string]any

// open makes a tab of a size in a colour scheme.
func (c *chromium) open(t testing.TB, width, height int, scheme string) *tab {
	t.Helper()
	p := &tab{t: t, c: c, loaded: make(chan struct{}, 16)}
	var target struct {
		TargetID string `json:"targetId"`
	}
	p.call(&target, "", "Target.createTarget", object{"url": "about:blank"})
	var attached struct {
		SessionID string `json:"sessionId"`
	}
	p.call(&attached, "", "Target.attachToTarget", object{"targetId": target.TargetID, "flatten": true})
	p.session = attached.SessionID
	c.mu.Lock()
	c.events[p.session] = p.event
	c.mu.Unlock()
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		p.do(domain+".enable", object{})
	}
	p.do("Emulation.setDeviceMetricsOverride", object{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
	media := ""
	if scheme == "print" { // as it is printed from a dark screen
		scheme, media = "dark", "print"
	}
	p.do("Emulation.setEmulatedMedia", object{"media": media, "features": []object{{"name": "prefers-color-scheme", "value": scheme}}})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = c.call(ctx, "", "Target.closeTarget", object{"targetId": target.TargetID}, nil)
	})
	return p
}

// event notes loads and complaints.
func (p *tab) event(m message) {
	switch m.Method {
	case "Page.loadEventFired":
		select {
		case p.loaded <- struct{}{}:
		default:
		}
	case "Runtime.exceptionThrown":
		p.complain("exception: " + string(m.Params))
	case "Runtime.consoleAPICalled":
		p.complain("console: " + string(m.Params))
	case "Log.entryAdded":
		var e struct {
			Entry struct{ Source, Level, Text, URL string }
		}
		if json.Unmarshal(m.Params, &e) != nil || e.Entry.Level == "error" || e.Entry.Level == "warning" {
			p.complain("log: " + string(m.Params))
		}
	}
}

func (p *tab) complain(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.complaints = append(p.complaints, text)
}

// clean fails the test if the browser complained, and forgets the complaints
// that contain one of the expected texts.
func (p *tab) clean(expected ...string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, text := range p.complaints {
		if !slices.ContainsFunc(expected, func(e string) bool { return strings.Contains(text, e) }) {
			p.t.Errorf("the browser complains: %s", text)
		}
	}
	p.complaints = nil
}

func (p *tab) call(out any, session, method string, params object) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	if err := p.c.call(ctx, session, method, params, out); err != nil {
		p.t.Fatal(err)
	}
}

func (p *tab) do(method string, params object) {
	p.t.Helper()
	p.call(nil, p.session, method, params)
}

// visit goes to an address and waits until it has loaded.
func (p *tab) visit(url string) {
	p.t.Helper()
	for len(p.loaded) > 0 {
		<-p.loaded
	}
	p.do("Page.navigate", object{"url": url})
	p.waitLoad()
}

func (p *tab) waitLoad() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	select {
	case <-p.loaded:
	case <-ctx.Done():
		p.t.Fatal("the page does not load")
	}
}

// eval runs an expression, awaiting a promise, and returns its value as text.
func (p *tab) eval(expr string) string {
	p.t.Helper()
	text, err := p.tryEval(expr)
	if err != nil {
		p.t.Fatal(err)
	}
	return text
}

// tryEval is eval whose page may be left meanwhile: then it fails.
func (p *tab) tryEval(expr string) (string, error) {
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	var out struct {
		Result struct {
			Value any `json:"value"`
		} `json:"result"`
		ExceptionDetails json.RawMessage `json:"exceptionDetails"`
	}
	err := p.c.call(ctx, p.session, "Runtime.evaluate", object{"expression": "(async () => String(" + expr + "))()", "awaitPromise": true, "returnByValue": true}, &out)
	if err != nil {
		return "", err
	}
	if out.ExceptionDetails != nil {
		return "", fmt.Errorf("%s: %s", expr, out.ExceptionDetails)
	}
	text, _ := out.Result.Value.(string)
	return text, nil
}

// leavings is how often a page may be left while something is waited for: what
// is waited for may be a navigation, and that ends the waiting script.
const leavings = 5

// until waits in the browser until an expression is true.
func (p *tab) until(expr string) {
	p.t.Helper()
	var got string
	var err error
	for range leavings {
		got, err = p.tryEval(`await new Promise((done) => {
		const start = Date.now();
		const look = () => (` + expr + `) ? done("yes") : Date.now() - start > 40000 ? done("no") : setTimeout(look, 50);
		look();
	})`)
		if err == nil {
			break
		}
	}
	if err != nil {
		p.t.Fatal(err)
	}
	if got != "yes" {
		p.t.Fatalf("never true: %s", expr)
	}
}

// html is the document as it stands, without running a script.
func (p *tab) html() string {
	p.t.Helper()
	var doc struct {
		Root struct {
			NodeID int `json:"nodeId"`
		} `json:"root"`
	}
	p.call(&doc, p.session, "DOM.getDocument", object{"depth": 0})
	var out struct {
		OuterHTML string `json:"outerHTML"`
	}
	p.call(&out, p.session, "DOM.getOuterHTML", object{"nodeId": doc.Root.NodeID})
	return out.OuterHTML
}

// shot is a picture of the window, or of the whole page.
func (p *tab) shot(whole bool) []byte {
	p.t.Helper()
	var out struct {
		Data string `json:"data"`
	}
	p.call(&out, p.session, "Page.captureScreenshot", object{"format": "png", "captureBeyondViewport": whole})
	raw, err := base64.StdEncoding.DecodeString(out.Data)
	if err != nil {
		p.t.Fatal(err)
	}
	return raw
}

// mouse sends a mouse event at a share of the width of the first element that
// a selector finds.
func (p *tab) mouse(kind, selector string, share float64) {
	p.t.Helper()
	box := p.eval(`JSON.stringify(document.querySelector(` + "`" + selector + "`" + `).getBoundingClientRect())`)
	var r struct{ X, Y, Width, Height float64 }
	if err := json.Unmarshal([]byte(box), &r); err != nil {
		p.t.Fatal(err)
	}
	p.do("Input.dispatchMouseEvent", object{
		"type": kind, "x": r.X + share*r.Width, "y": r.Y + 40, "button": map[bool]string{true: "none", false: "left"}[kind == "mouseMoved"], "clickCount": 1,
	})
}
