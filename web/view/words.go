package view

import (
	"strings"
	"unicode"

	"stallmark/storage/model"
	"stallmark/web/chart"
	"stallmark/web/format"
)

func zone(w Window) string {
	if w.Local {
		return "local"
	}
	return "utc"
}

func doTitle(kind string) string {
	switch model.RemedyKind(kind) {
	case model.RemedyNow:
		return "Do now"
	case model.RemedyLater:
		return "Do later"
	}
	return "Accept"
}

// bannerTitle heads the banner's advice. What has ended needs nothing now.
func bannerTitle(v Verdict) string {
	if !v.Ended.IsZero() || v.Undated {
		return "Before the next one"
	}
	return doTitle(v.Do.Kind)
}

// outTitle heads the list of what was checked.
func outTitle(v Verdict) string {
	if v.Kind == Calm || v.Kind == Unsure || v.Kind == Blind || len(v.RuledOut) == 0 {
		return "Checked"
	}
	return "Ruled out"
}

// Room is how many checked and unknown signatures are listed before the rest is
// folded.
type Room struct{ Out, Unknown int }

// room is what the banner has: half of it beside advice, all of it in two
// columns without.
func room(wide bool) Room {
	if wide {
		return Room{8, 6}
	}
	return Room{5, 3}
}

func (r Room) more(out, unknown int) string {
	var parts []string
	if n := out - r.Out; n > 0 {
		parts = append(parts, count(n, "more", "more"))
	}
	if n := unknown - r.Unknown; n > 0 {
		parts = append(parts, count(n, "more unknown", "more unknown"))
	}
	return strings.Join(parts, ", ")
}

// Brief is the present setting without what stands in parentheses.
func (a Advice) Brief() string {
	head, _, _ := strings.Cut(a.Current, " (")
	return head
}

func partNames(parts []Part) string {
	var names []string
	for i, p := range parts {
		name := p.Title
		if i > 0 {
			name = strings.ToLower(name[:1]) + name[1:]
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

func percentText(v float64) string {
	if v > 0 && v < 1 {
		return "<\u00a01\u00a0%"
	}
	return format.Fixed(v, 0) + "\u00a0%"
}

// slug makes an id for an element out of a name.
func slug(s string) string {
	return strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return unicode.ToLower(r)
		}
		return '-'
	}, s)
}

// diskAbout is the small line under a device's name.
func diskAbout(d Disk) string {
	parts := []string{d.Kind}
	if d.Backing != "" && d.Backing != d.Name {
		parts = append(parts, "on "+d.Backing)
	}
	if d.About != "" {
		parts = append(parts, d.About)
	}
	return strings.Join(parts, ", ")
}

// referenceOf makes a link of a reference that is a web address.
func referenceOf(text string) Reference {
	text = format.Clean(text)
	if strings.HasPrefix(text, "https://") && !strings.ContainsAny(text, " \n") {
		return Reference{text, text}
	}
	return Reference{Text: text}
}

// mendText says how an unknown signature could be judged.
func mendText(c Checked) string {
	if c.Mend == "" {
		return c.Title
	}
	return c.Title + ". To judge it: " + c.Mend
}

// proofGlyph is full for what a real kernel has shown, empty for what only
// made-up series have.
func proofGlyph(word string) Glyph {
	switch word {
	case "recording":
		return GlyphFilled
	case "drill":
		return GlyphPartial
	}
	return GlyphAbsent
}

func unknownLanes(l chart.Lanes) int {
	n := 0
	for _, t := range l.Tracks {
		if t.State == "unknown" {
			n++
		}
	}
	return n
}

// otherWords says of a further incident how long it has lasted and how sure it
// is.
func otherWords(b Brief) string {
	text := "for " + b.Lasted
	if !b.Ended.IsZero() {
		text = "ended, " + b.Lasted
	}
	return text + ", " + string(b.Confidence)
}

// quietLanes is what the folded lanes are.
func quietLanes(o Overview) string {
	if len(o.Lanes.Tracks) == 0 {
		text := "Nothing fired in this window"
		if n := unknownLanes(o.Quiet); n > 0 {
			text += ", " + count(n, "is unknown", "are unknown")
		}
		return text + ". All " + count(len(o.Quiet.Tracks), "signature", "signatures") + " over time"
	}
	return count(len(o.Quiet.Tracks), "more that did not fire", "more that did not fire")
}
