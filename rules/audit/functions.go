package audit

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// function is one that expressions may call. Its arguments are known values.
type function struct {
	least, most int // number of arguments; most < 0: any number
	call        func(args []any) (any, error)
}

// functions lists them; README.md explains them.
func functions() map[string]function {
	return map[string]function{
		"not":   {1, 1, func(a []any) (any, error) { v, err := truth(a[0]); return !v, err }},
		"min":   {2, -1, ofNumbers(slices.Min[[]float64])},
		"max":   {2, -1, ofNumbers(slices.Max[[]float64])},
		"floor": {2, 2, ofNumbers(func(v []float64) float64 { return math.Floor(v[0]/v[1]) * v[1] })},
		"size":  {1, 1, func(a []any) (any, error) { return size(fmt.Sprint(a[0])) }},
		"since": {2, 2, func(a []any) (any, error) { return since(fmt.Sprint(a[0]), fmt.Sprint(a[1])) }},
		"under": {2, -1, under},
		"word":  {2, -1, anyWord},
		"match": {2, -1, anyText},
		"pick":  {3, 3, nil}, // computes only what it picks, see evalCall
	}
}

func ofNumbers(f func([]float64) float64) func([]any) (any, error) {
	return func(args []any) (any, error) {
		list := make([]float64, len(args))
		for i, a := range args {
			var err error
			if list[i], err = number(a); err != nil {
				return nil, err
			}
		}
		return f(list), nil
	}
}

// size reads an amount of memory as the JVM writes it: 8g, 512m, 1024k, bytes.
func size(text string) (float64, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	factor := 1.0
	if n := len(text); n > 0 {
		if i := strings.IndexByte("kmgt", text[n-1]); i >= 0 {
			factor, text = math.Pow(1024, float64(i+1)), text[:n-1]
		}
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v < 0 {
		return 0, fmt.Errorf("%.40q is not a size like 512m or 8g", text)
	}
	return v * factor, nil
}

// since reports whether a version is the given one or later.
func since(version, least string) (bool, error) {
	c, err := compareVersions(version, least)
	return c >= 0, err
}

func compareVersions(a, b string) (int, error) {
	x, err := versionParts(a)
	if err != nil {
		return 0, err
	}
	y, err := versionParts(b)
	for i := range max(len(x), len(y)) {
		var p, q int
		if i < len(x) {
			p = x[i]
		}
		if i < len(y) {
			q = y[i]
		}
		if p != q {
			return cmp.Compare(p, q), err
		}
	}
	return 0, err
}

// versionParts reads the leading numbers of 4.9.1, 7.5.0-ccs or 6.18.5-2.el9.
func versionParts(v string) ([]int, error) {
	var parts []int
	for p := range strings.FieldsFuncSeq(v, func(r rune) bool { return strings.ContainsRune(".-+_", r) }) {
		n, err := strconv.Atoi(p)
		if err != nil {
			break
		}
		parts = append(parts, n)
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("%.40q is not a version", v)
	}
	return parts, nil
}

// under reports whether a path, or one of several with commas, lies in one of
// some folders.
func under(args []any) (any, error) {
	for p := range strings.SplitSeq(fmt.Sprint(args[0]), ",") {
		p = path.Clean(strings.TrimSpace(p))
		for _, folder := range args[1:] {
			f := path.Clean(fmt.Sprint(folder))
			if p == f || strings.HasPrefix(p, strings.TrimSuffix(f, "/")+"/") {
				return true, nil
			}
		}
	}
	return false, nil
}

// anyWord reports whether one of some words stands in a list with commas or
// blanks, as mount options do.
func anyWord(args []any) (any, error) {
	list := strings.FieldsFunc(fmt.Sprint(args[0]), func(r rune) bool { return r == ',' || r == ' ' || r == ';' })
	return slices.ContainsFunc(args[1:], func(w any) bool { return slices.Contains(list, fmt.Sprint(w)) }), nil
}

// anyText reports whether one of some texts occurs in another.
func anyText(args []any) (any, error) {
	text := fmt.Sprint(args[0])
	return slices.ContainsFunc(args[1:], func(w any) bool { return strings.Contains(text, fmt.Sprint(w)) }), nil
}
