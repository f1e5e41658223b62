// Package browsertest looks at the page with a real headless Chromium, which it
// drives over the DevTools protocol on a pipe. It is tests only. They run when
// STALLMARK_BROWSER=1 (make test sets it) and then fail without a browser.
//
// STALLMARK_SHOTS=DIR also writes a picture of every scene of package gallery.
package browsertest
