// Package gallery is a backend with canned hosts, one for every state that the
// page can show: stalling, calm, blind, denied, hostile. Real stalls are hard to
// provoke; here each can be looked at, tested and photographed. Its numbers come
// from small models of the kernel's behaviour and pass through the real PromQL
// engine, so the page's own expressions are exercised too.
//
// Only tests import it.
package gallery
