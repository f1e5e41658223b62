package logs

import "testing"

func TestByTime(t *testing.T) {
	const (
		a = "2026-03-01 12:00:00 WARN a\n\tat stack a\n"
		b = "2026-03-01 12:01:30 WARN b\n"
		c = "2026-03-01 12:03:00 WARN c\n\tat stack c\n"
		d = "2026-03-01 12:03:00 WARN d\n"
	)
	for name, tt := range map[string]struct{ given, want string }{
		"in order":                    {a + b + c + d, a + b + c + d},
		"the newest first":            {"head\n" + d + c + b + a, "head\n" + a + b + c + d},
		"joined in a wrong order":     {c + d + a + b, a + b + c + d},
		"no end at the end":           {c + a + "2026-03-01 12:01:30 WARN b", a + b + c},
		"a little out of order":       {b + "2026-03-01 12:01:29 WARN x\n" + c, b + "2026-03-01 12:01:29 WARN x\n" + c},
		"no stamps":                   {"x\ny\n", "x\ny\n"},
		"no days":                     {"12:03:00 WARN x\n12:00:00 WARN y\n", "12:03:00 WARN x\n12:00:00 WARN y\n"},
		"of two zones, so not sorted": {c + "2026-03-01T12:00:00Z WARN a\n", c + "2026-03-01T12:00:00Z WARN a\n"},
		"nothing":                     {"", ""},
	} {
		got, changed := byTime([]byte(tt.given))
		if string(got) != tt.want || changed != (tt.given != tt.want) {
			t.Errorf("%s: %q, %v, want %q", name, got, changed, tt.want)
		}
	}
}
