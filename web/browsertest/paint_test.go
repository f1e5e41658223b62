package browsertest

import (
	"os"
	"testing"

	"stallmark/web/gallery"
)

// BenchmarkFirstPaint loads the overview of a stall anew, 15 minutes of
// one-second samples, and reports when the browser first painted something of it
// and what came over the wire. STALLMARK_BROWSER=1 go test ./web/browsertest -run '^$' -bench FirstPaint
// STALLMARK_URL names a running Stallmark to load instead.
func BenchmarkFirstPaint(b *testing.B) {
	c := browser(b)
	url := os.Getenv("STALLMARK_URL")
	if url == "" {
		_, url = serve(b, gallery.Stalling())
	}
	p := c.open(b, 1440, 900, "light")
	var paint, whole, wire, nodes float64
	for b.Loop() {
		p.do("Network.clearBrowserCache", object{})
		p.visit(url + "/")
		p.until(`performance.getEntriesByName("first-contentful-paint").length === 1 && performance.getEntriesByType("navigation")[0].loadEventEnd > 0`)
		paint += mustNumber(b, p.eval(`performance.getEntriesByName("first-contentful-paint")[0].startTime`))
		whole += mustNumber(b, p.eval(`performance.getEntriesByType("navigation")[0].loadEventEnd`))
		wire += mustNumber(b, p.eval(`performance.getEntriesByType("navigation")[0].transferSize + performance.getEntriesByType("resource").reduce((n, e) => n + e.transferSize, 0)`))
		nodes += mustNumber(b, p.eval(`document.querySelectorAll("*").length`))
	}
	n := float64(b.N)
	b.ReportMetric(paint/n, "ms/paint")
	b.ReportMetric(whole/n, "ms/load")
	b.ReportMetric(wire/n, "bytes/load")
	b.ReportMetric(nodes/n, "elements")
}
