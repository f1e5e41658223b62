package gclog

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
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
			begin := processorSeconds(b)
			for b.Loop() {
				p := NewParser(Handler{})
				if err := p.Read(bytes.NewReader(log)); err != nil {
					b.Fatal(err)
				}
				p.Flush()
			}
			// On a machine that others use too, the time on the clock says little.
			b.ReportMetric(float64(b.N)*float64(len(log))/1e6/(processorSeconds(b)-begin), "MB/cpu-s")
		})
	}
}

// processorSeconds is the processor time of this process.
func processorSeconds(b *testing.B) float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
