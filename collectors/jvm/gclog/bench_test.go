package gclog

import (
	"bytes"
	"strings"
	"testing"
)

// BenchmarkRead reads whole logs: of the unified format with all that is printed
// at info, and at trace; and of the old format.
func BenchmarkRead(b *testing.B) {
	c := loadCorpus(b)
	legacy := ""
	for _, l := range legacyCases() {
		if !strings.HasPrefix(l.name, "damaged") {
			legacy += l.log
		}
	}
	for name, log := range map[string][]byte{
		"info": c.get("jdk17-G1-all.log"), "pauses": c.get("jdk17-G1-min.log"), "trace": c.get("jdk17-G1-async.log"),
		"safepoints": c.get("jdk17-Z-nodec.log"), "legacy": []byte(legacy),
	} {
		b.Run(name, func(b *testing.B) {
			log := bytes.Repeat(log, 1+(1<<20)/len(log))
			b.SetBytes(int64(len(log)))
			b.ReportAllocs()
			for b.Loop() {
				p := NewParser(Handler{})
				if err := p.Read(bytes.NewReader(log)); err != nil {
					b.Fatal(err)
				}
				p.Flush()
			}
		})
	}
}
