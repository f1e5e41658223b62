package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"stallmark/storage/model"
)

// sarTable writes "sar -B 1" of 20 s with pages scanned by threads that allocate,
// in the layout of a locale.
func sarTable(heading, stamp, number string, scanned float64) string {
	var b strings.Builder
	b.WriteString(heading + "\n\n")
	fmt.Fprintf(&b, stamp+"  pgpgin/s pgpgout/s   fault/s  majflt/s  pgfree/s pgscank/s pgscand/s pgsteal/s    %%vmeff\n", 0)
	for i := range 20 {
		row := fmt.Sprintf(" %.2f %.2f %.2f %.2f %.2f %.2f %.2f %.2f %.2f\n", 3216.0, 2532.0, 485922.0, 503.0, 6047.0, 900.0, scanned, 800.0, 90.0)
		fmt.Fprintf(&b, stamp, i+1)
		b.WriteString(strings.ReplaceAll(row, ".", number))
	}
	return b.String()
}

// TestSarAlone judges "sar -B" alone in the layouts of four locales: direct reclaim
// is possible and no more; kswapd working alone is nothing.
func TestSarAlone(t *testing.T) {
	for locale, layout := range map[string][3]string{
		"C":  {"Linux 6.18.44 (vm) \t12/01/26 \t_x86_64_\t(2 CPU)", "12:36:%02d", "."},
		"us": {"Linux 6.18.44 (vm) \t12/01/2026 \t_x86_64_\t(2 CPU)", "12:36:%02d PM", "."},
		"de": {"Linux 6.18.44 (vm) \t01.12.2026 \t_x86_64_\t(2 CPU)", "12:36:%02d", ","},
		"zh": {"Linux 6.18.44 (vm) \t2026年12月01日 \t_x86_64_\t(2 CPU)", "12时36分%02d秒", "."},
	} {
		t.Run(locale, func(t *testing.T) {
			r := triaged(t, exitFound, put(t, "x.txt", sarTable(layout[0], layout[1], layout[2], 40000)))
			if len(r.Findings) != 1 || r.Findings[0].Signature != "direct-reclaim" || r.Findings[0].Confidence != model.Possible {
				t.Errorf("findings %+v", r.Findings)
			}
			r = triaged(t, exitUnknown, put(t, "x.txt", sarTable(layout[0], layout[1], layout[2], 0)))
			if len(r.Findings) != 0 {
				t.Errorf("findings %+v without direct reclaim", r.Findings)
			}
		})
	}
}

// TestRealTables judges what tools printed beside a drill of direct reclaim, in
// two locales and as sadf gives it.
func TestRealTables(t *testing.T) {
	for _, name := range []string{"real-sar-B-us.txt", "real-sar-B-de.txt", "real-sadf-d-reclaim.txt"} {
		t.Run(name, func(t *testing.T) {
			r := triaged(t, exitFound, filepath.Join("..", "..", "collectors", "files", "pasted", "testdata", name))
			if len(r.Findings) == 0 || r.Findings[0].Signature != "direct-reclaim" || r.Findings[0].Confidence != model.Possible {
				t.Errorf("findings %+v", r.Findings)
			}
		})
	}
}

// TestCoarseMeansRuleNothingOut judges "sar -B" of every ten minutes: what is far over
// a threshold for so long is possible, and what is not seen is unknown.
func TestCoarseMeansRuleNothingOut(t *testing.T) {
	table := func(scanned float64) string {
		text := sarTable("Linux 6.18.44 (vm) \t12/01/26 \t_x86_64_\t(2 CPU)", "12:36:%02d", ".", scanned)
		for i := 20; i >= 0; i-- {
			text = strings.Replace(text, fmt.Sprintf("12:36:%02d", i), fmt.Sprintf("%02d:%02d:01", 3+i/6, i%6*10), 1)
		}
		return text
	}
	r := triaged(t, exitFound, put(t, "x.txt", table(40000)))
	if got := confidences(r); got["direct-reclaim"] != model.Possible {
		t.Errorf("findings %v", got)
	}
	r = triaged(t, exitUnknown, put(t, "x.txt", table(0)))
	var why string
	for _, u := range r.Unknown {
		if u.Signature == "direct-reclaim" {
			why = u.Why
		}
	}
	if len(r.Findings)+len(r.RuledOut) > 0 || !strings.Contains(why, "10m0s apart") {
		t.Errorf("findings %v, ruled out %+v, direct-reclaim: %s", confidences(r), r.RuledOut, why)
	}
}
