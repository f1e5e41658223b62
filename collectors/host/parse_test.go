package host

import (
	"strings"
	"testing"
)

func TestParseUint(t *testing.T) {
	for text, want := range map[string]struct {
		v  uint64
		ok bool
	}{
		"0":                     {0, true},
		"007":                   {7, true},
		"4294967296":            {4294967296, true},
		"9999999999999999999":   {9999999999999999999, true},
		"18446744073709551615":  {18446744073709551615, true},
		"18446744073709551616":  {0, false},
		"99999999999999999999":  {0, false},
		"184467440737095516150": {0, false},
		"":                      {0, false},
		"-1":                    {0, false},
		"+1":                    {0, false},
		"1.5":                   {0, false},
		"1e3":                   {0, false},
		"٣":                     {0, false},
	} {
		if v, ok := parseUint([]byte(text)); v != want.v || ok != want.ok {
			t.Errorf("parseUint(%q) = %d, %v; want %d, %v", text, v, ok, want.v, want.ok)
		}
	}
}

func TestCleanText(t *testing.T) {
	for text, want := range map[string]string{
		"  PERC H700  \n":        "PERC H700",
		"a\tb\nc":                "a b c",
		"\x1b[31mred\x00":        "\uFFFD[31mred\uFFFD",
		"bad \xff utf8":          "bad \uFFFD utf8",
		strings.Repeat("é", 999): strings.Repeat("é", maxText),
	} {
		if got := cleanText([]byte(text)); got != want {
			t.Errorf("cleanText(%q) = %q; want %q", text, got, want)
		}
	}
}

func TestChosenWord(t *testing.T) {
	for text, want := range map[string]string{
		"none [mq-deadline] kyber": "mq-deadline", "none": "none", "]x[": "]x[", "[only]": "only", "": "",
	} {
		if got := chosenWord(text); got != want {
			t.Errorf("chosenWord(%q) = %q; want %q", text, got, want)
		}
	}
}
