package rules

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// units are the units that files may name.
func units() []string {
	return []string{
		"bytes", "bytes/s", "pages", "pages/s", "seconds", "ms", "us", "percent", "ratio", "per_second", "count",
		"seconds/s", "ms/s",
	}
}

// Side says in words where a value lies beside a threshold, which follows.
func Side(v, threshold float64) string {
	switch {
	case v > threshold:
		return "over the threshold of"
	case v < threshold:
		return "under the threshold of"
	}
	return "at the threshold of"
}

// Format renders a value of one of the units of signature files for people:
// "1.5 GiB", "320 ms", "62 %", "1,200/s". An empty or unknown unit gives the
// bare number.
func Format(v float64, unit string) string {
	switch unit {
	case "bytes":
		return formatBytes(v)
	case "bytes/s":
		return formatBytes(v) + "/s"
	case "pages":
		return formatAmount(v) + " pages"
	case "pages/s":
		return formatAmount(v) + " pages/s"
	case "seconds":
		return formatSeconds(v)
	case "ms":
		return formatSeconds(v / 1e3)
	case "us":
		return formatSeconds(v / 1e6)
	case "seconds/s":
		return formatSeconds(v) + " per s"
	case "ms/s":
		return formatSeconds(v/1e3) + " per s"
	case "percent":
		return formatAmount(v) + " %"
	case "per_second":
		return formatAmount(v) + "/s"
	case "count":
		return formatAmount(v)
	}
	return formatNumber(v)
}

// formatAmount is formatNumber for what is measured and shown: below a hundredth
// it says only that, since nobody reads 0.00061 % as next to nothing.
func formatAmount(v float64) string {
	const least = 0.01
	switch {
	case v > 0 && v < least:
		return "<0.01"
	case v < 0 && v > -least:
		return ">-0.01"
	}
	return formatNumber(v)
}

// formatBytes uses powers of 1024, as the kernel's own limits do.
func formatBytes(v float64) string {
	const step = 1024
	names := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	i := 0
	for math.Abs(v) >= step && i < len(names)-1 {
		v /= step
		i++
	}
	return formatAmount(v) + " " + names[i]
}

// formatSeconds picks us, ms, s, or minutes and hours.
func formatSeconds(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0 s"
	case a < 1e-3:
		return formatAmount(v*1e6) + " us"
	case a < 1:
		return formatNumber(v*1e3) + " ms"
	case a < 120:
		return formatNumber(v) + " s"
	case a < 1e8:
		return (time.Duration(v) * time.Second).String()
	}
	return formatNumber(v) + " s"
}

// formatNumber keeps three significant digits below 1000 and groups whole
// thousands above.
func formatNumber(v float64) string {
	a := math.Abs(v)
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0) || a >= 1e15:
		return strconv.FormatFloat(v, 'g', 4, 64)
	case a >= 999.5:
		return group(fmt.Sprintf("%.0f", v))
	case a >= 100:
		return trimZeros(fmt.Sprintf("%.0f", v))
	case a >= 10:
		return trimZeros(fmt.Sprintf("%.1f", v))
	case a >= 1 || a == 0:
		return trimZeros(fmt.Sprintf("%.2f", v))
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

func trimZeros(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// group puts a comma between thousands.
func group(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}
