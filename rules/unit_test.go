package rules

import (
	"math"
	"testing"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		v    float64
		unit string
		want string
	}{
		{1610612736, "bytes", "1.5 GiB"},
		{0, "bytes", "0 B"},
		{1023, "bytes", "1,023 B"},
		{1048576, "bytes/s", "1 MiB/s"},
		{-2048, "bytes", "-2 KiB"},
		{16384, "pages", "16,384 pages"},
		{0.25, "seconds", "250 ms"},
		{0.0000042, "seconds", "4.2 us"},
		{14, "ms", "14 ms"},
		{0, "ms", "0 s"},
		{12.34, "seconds", "12.3 s"},
		{3725, "seconds", "1h2m5s"},
		{62.4, "percent", "62.4 %"},
		{0.43, "ratio", "0.43"},
		{1200, "per_second", "1,200/s"},
		{12, "count", "12"},
		{1234567, "count", "1,234,567"},
		{999.6, "count", "1,000"},
		{999.4, "count", "999"},
		{0.0000061, "percent", "<0.01 %"},
		{-0.0000061, "percent", ">-0.01 %"},
		{0.012, "percent", "0.012 %"},
		{0.00002, "per_second", "<0.01/s"},
		{0.001, "bytes/s", "<0.01 B/s"},
		{0.0000000001, "seconds", "<0.01 us"},
		{0.00061, "ratio", "0.00061"},
		{0.5, "seconds/s", "500 ms per s"},
		{3, "", "3"},
		{math.Inf(1), "bytes", "+Inf PiB"},
		{math.NaN(), "count", "NaN"},
	} {
		if got := Format(c.v, c.unit); got != c.want {
			t.Errorf("Format(%v, %q) = %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}

// Every unit that a file may name has a form of its own.
func TestEveryUnitIsFormatted(t *testing.T) {
	bare := map[string]bool{"ratio": true, "count": true}
	for _, u := range units() {
		if got := Format(42, u); (got == "42") != bare[u] {
			t.Errorf("%s: got %q", u, got)
		}
	}
}
