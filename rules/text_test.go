package rules

import (
	"math"
	"strings"
	"testing"
	"text/template"
)

// oracle is package text/template with the functions of texts.
func oracle(source string, data textData, fact func(string) any) (string, error) {
	t, err := template.New("text").Funcs(template.FuncMap{
		"fact": fact, "bytes": func(v any) (string, error) { return formatAny(v, "bytes") }, "format": formatAny,
		"int":   func(v any) (int64, error) { return wholeNumber(v, math.Trunc) },
		"round": func(v any) (int64, error) { return wholeNumber(v, math.Round) },
	}).Parse(source)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := t.Execute(&b, data); err != nil {
		return "", err
	}
	if out := b.String(); !strings.Contains(out, "<no value>") && !strings.Contains(out, "<nil>") {
		return out, nil
	}
	return "", errMissing
}

// textsData is data of every kind.
func textsData() (textData, func(string) any) {
	facts := map[string]any{"zero": "0", "number": "42", "text": "deadline", "empty": ""}
	return textData{
		"V": map[string]any{
			"n": 1536.0, "half": 2.5, "zero": 0.0, "missing": nil, "text": "a <b>", "big": 1e300, "negative": -3.7, "whole": int64(7),
		},
		"Subject": map[string]any{"device": "vda", "empty": ""},
		"Value":   "12 ms",
	}, func(key string) any { return facts[key] }
}

// texts are the forms that rule files use, and those that they might.
func texts() []string {
	return []string{
		"plain", "", "{{.Value}}", "{{ .V.n }} and {{.V.half}}", "{{.V.missing}}", "{{.V.nothing}}", "{{.V.missing.deeper}}", "{{.V.n.deeper}}",
		"{{bytes .V.n}}", "{{.V.n | bytes}}", "{{int .V.half}} {{round .V.half}} {{int .V.negative}}", "{{int .V.big}}", "{{int .V.text}}", "{{int .V.missing}}",
		`{{fact "text"}}`, `{{fact "none"}}`, `{{int (fact "number")}}`, `{{fact "number" | int}}`, `{{format .V.n "pages"}}`, `{{format .V.n .V.n}}`,
		`{{if fact "zero"}}a{{else}}b{{end}}`, `{{if fact "empty"}}a{{else}}b{{end}}`, `{{if fact "none"}}a{{else if .V.n}}b{{else}}c{{end}}`,
		`{{if .V.zero}}a{{else}}b{{end}}`, `{{if .V.missing}}a{{end}}.`, `{{if .Subject}}a{{end}}`, `{{if not .V.zero}}a{{end}}`,
		`{{with .V.n}}{{bytes .}} of {{$.Value}}{{end}}`, `{{with .V.missing}}a{{else}}b{{end}}`, `{{with $x := .V.half}}{{$x}}{{.}}{{end}}`,
		`{{with .Subject}}{{.device}}{{end}}`, `{{with .V.n}}{{.device}}{{end}}`, `{{with .V}}{{with .half}}{{.}}{{end}}{{.n}}{{end}}`,
		`{{$x := .V.n}}{{$x}}`, `{{$x := .V.n}}{{if true}}{{$x = 5}}{{$x := 6}}{{$x}}{{end}}{{$x}}`, `{{if true}}{{$x := 1}}{{end}}{{.Value}}`,
		`{{if eq (fact "number") "42"}}a{{end}}`, `{{if eq (fact "none") "42"}}a{{else}}b{{end}}`, `{{if eq .V.whole 7}}a{{end}}`, `{{if eq .V.half 1.0 2.5}}a{{end}}`,
		`{{if ne .Value "x"}}a{{end}}`, `{{if ne .V.missing "x"}}a{{end}}`, `{{if eq .Value 5}}a{{end}}`, `{{if eq true true}}a{{end}}`, `{{if eq true 1}}a{{end}}`,
		`{{if lt .V.half 3.0}}a{{end}}{{if le .V.half 2.5}}b{{end}}{{if gt .V.half 2.5}}c{{end}}{{if ge .V.half 2.5}}d{{end}}`,
		`{{if gt .V.n .V.half}}a{{end}}`, `{{if lt .V.missing 1.0}}a{{end}}`, `{{if lt .Value "z"}}a{{end}}`, `{{if lt true false}}a{{end}}`,
		`{{if and .V.n .V.half}}a{{end}}`, `{{if and .V.zero .V.missing.x}}a{{else}}b{{end}}`, `{{if or .V.zero .V.half}}a{{end}}`, `{{or .V.n .V.missing.x}}`,
		`{{and .V.n 0 .V.half}}`, `{{.V.n | or .V.zero}}`, `{{.V.n | and .V.zero}}`, `{{or .V.missing "default"}}`, `{{and}}`,
		`{{index .Subject "device"}}`, `{{index .Subject "none"}}`, `{{index .V "n" | bytes}}`, `{{index .Subject 5}}`, `{{index . "V" "half"}}`, `{{index .Value "x"}}`,
		`{{"quoted"}} {{5}} {{2.5}} {{true}} {{-1}} {{0x10}} {{1e3}}`, `{{nil}}`, `{{not nil}}`, `{{.V.n "x"}}`, `{{"x" | .Value}}`, `{{bytes}}`, `{{bytes .V.n .V.n}}`,
		"a {{- .Value -}} b", "{{/* a remark */}}x", `{{(index .V "half")}}`, `{{(.V).half}}`, `{{.Value | printf "%s"}}`, `{{range .V}}x{{end}}`,
		`{{if}}a{{end}}`, `{{.V.n`, `{{unknown .V}}`, `{{len .V}}`, `{{$.Value}}`, `{{$.V.half}}`, `{{$y}}`, `{{template "x"}}`, `{{eq}}`, `{{eq 1}}`, `{{lt 1 2 3}}`,
	}
}

// TestTextsAreGoTemplates compares with Go's own package, as far as that goes:
// numbers of different kinds may be compared here, and no other functions be called.
func TestTextsAreGoTemplates(t *testing.T) {
	data, fact := textsData()
	differs := map[string]string{
		`{{.Value | printf "%s"}}`: "", `{{range .V}}x{{end}}`: "", `{{len .V}}`: "",
	}
	for _, source := range texts() {
		want, wantErr := oracle(source, data, fact)
		if text, ok := differs[source]; ok {
			want, wantErr = text, errMissing
		}
		got, err := render(source, data, fact)
		if got != want || (err == nil) != (wantErr == nil) {
			t.Errorf("%s\n got %q, %v\nwant %q, %v", source, got, err, want, wantErr)
		}
	}
	if got, err := render(`{{if eq .V.half 2}}a{{else}}b{{end}}{{if lt .V.half 3}}c{{end}}`, data, fact); got != "bc" || err != nil {
		t.Errorf("%q, %v: whole numbers cannot be compared with others", got, err)
	}
}

func FuzzTexts(f *testing.F) {
	for _, s := range texts() {
		f.Add(s)
	}
	data, fact := textsData()
	f.Fuzz(func(t *testing.T, source string) {
		got, err := render(source, data, fact)
		if err != nil || strings.Contains(source, "range") || strings.Contains(source, "template") || strings.Contains(source, "block") {
			return
		}
		if want, wantErr := oracle(source, data, fact); wantErr == nil && got != want {
			t.Errorf("%q: got %q, want %q", source, got, want)
		}
	})
}
