package assets_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"stallmark/assets"
)

// Least ratios of the Web Content Accessibility Guidelines 2.1, level AA:
// success criteria 1.4.3 (text) and 1.4.11 (shapes that mean something).
const (
	forText  = 4.5
	forShape = 3
)

// TestContrast computes the contrast of every pair of colours in which text or
// shapes stand, by day and by night, from the variables of the style sheet.
func TestContrast(t *testing.T) {
	grounds := []string{"panel", "bg", "code", "soft", "crit-bg", "warn-bg", "ok-bg", "unk-bg"}
	pairs := map[[2]string]float64{}
	need := func(least float64, ink string, on ...string) {
		for _, g := range on {
			pairs[[2]string{ink, g}] = least
		}
	}
	need(forText, "ink", grounds...)
	need(forText, "mut", grounds...)
	need(forText, "accent", "panel", "bg", "code", "crit-bg", "warn-bg", "ok-bg", "unk-bg")
	need(forText, "crit", "panel", "crit-bg")
	need(forText, "warn", "panel", "warn-bg", "crit-bg")
	need(forText, "ok", "panel", "ok-bg")
	need(forText, "unk", "panel", "crit-bg", "warn-bg", "ok-bg", "unk-bg")
	need(forText, "limit", "panel")
	need(forText, "s1", "panel") // the ages of data files are words in these
	need(forText, "s4", "panel")
	need(forText, "s5", "panel")
	need(forShape, "s2", "panel")
	need(forShape, "s3", "panel")
	need(forShape, "s6", "panel")
	need(forShape, "s1", "soft", "crit-bg")
	need(forShape, "s4", "soft")
	need(forShape, "s5", "soft", "crit-bg", "warn-bg")
	need(forShape, "crit", "soft")
	for name, colours := range schemes(t) {
		for pair, least := range pairs {
			ink, ground := colours[pair[0]], colours[pair[1]]
			if ink == nil || ground == nil {
				t.Fatalf("%s: no colour --%s or --%s", name, pair[0], pair[1])
			}
			if got := contrast(ink, ground); got < least {
				t.Errorf("%s: --%s on --%s has a contrast of %.2f, want %.1f", name, pair[0], pair[1], got, least)
			}
		}
	}
}

// schemes are the colours of the two schemes, by the names of their variables.
func schemes(t *testing.T) map[string]map[string][]float64 {
	t.Helper()
	raw, err := assets.FS.ReadFile("stallmark.css")
	if err != nil {
		t.Fatal(err)
	}
	root := regexp.MustCompile(`:root \{([^}]*)\}`)
	blocks := root.FindAllStringSubmatch(string(raw), -1)
	if len(blocks) < 2 || !strings.Contains(blocks[0][1], "--ink") || !strings.Contains(blocks[1][1], "--ink") {
		t.Fatal("the style sheet does not begin with the colours of day and night")
	}
	out := map[string]map[string][]float64{"day": {}, "night": {}}
	for i, name := range []string{"day", "night"} {
		for _, m := range regexp.MustCompile(`--([a-z0-9-]+): #([0-9a-f]+);`).FindAllStringSubmatch(blocks[i][1], -1) {
			out[name][m[1]] = colour(t, m[2])
		}
	}
	return out
}

// colour reads three or six hexadecimal digits into shares of red, green, blue.
func colour(t *testing.T, hex string) []float64 {
	t.Helper()
	if len(hex) == 3 {
		hex = strings.Repeat(hex[:1], 2) + strings.Repeat(hex[1:2], 2) + strings.Repeat(hex[2:], 2)
	}
	n, err := strconv.ParseUint(hex, 16, 32)
	if err != nil || len(hex) != 6 {
		t.Fatalf("colour #%s", hex)
	}
	return []float64{float64(n>>16) / 255, float64(n>>8&255) / 255, float64(n&255) / 255}
}

func contrast(a, b []float64) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// luminance is the relative luminance of WCAG 2.1.
func luminance(c []float64) float64 {
	linear := func(v float64) float64 {
		if v <= 0.03928 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c[0]) + 0.7152*linear(c[1]) + 0.0722*linear(c[2])
}

func TestContrastOfBlackOnWhite(t *testing.T) {
	if got := contrast(colour(t, "000"), colour(t, "ffffff")); math.Abs(got-21) > 1e-9 {
		t.Errorf("black on white has a contrast of %v", got)
	}
}
