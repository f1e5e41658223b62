package pasted

import (
	"strconv"
	"strings"
)

// number reads a number as the tools print it: a decimal comma (sysstat under a
// locale that has one), a percent sign or a size suffix (iostat -h: "222.1k").
// Sizes come out in units of the suffix "": 1k is 1024.
func number(s string) (float64, bool) {
	s = strings.TrimSuffix(s, "%")
	if s == "" || len(s) > 32 {
		return 0, false
	}
	scale := 1.0
	if i := strings.IndexByte("kMGTP", s[len(s)-1]); i >= 0 {
		for range i + 1 {
			scale *= 1024
		}
		s = s[:len(s)-1]
	}
	if strings.Count(s, ",") == 1 && !strings.Contains(s, ".") {
		s = strings.Replace(s, ",", ".", 1)
	}
	for _, c := range s {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' {
			return 0, false // no hexadecimal, no "Inf"
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v < -1e18 || v > 1e18 {
		return 0, false
	}
	return v * scale, true
}

// numbers reads all of a row's words, or reports which one is none.
func numbers(words []string) (values []float64, bad string) {
	values = make([]float64, len(words))
	for i, w := range words {
		v, ok := number(w)
		if !ok {
			return nil, w
		}
		values[i] = v
	}
	return values, ""
}

// numeric reports whether a row of a table can begin with this word.
func numeric(s string) bool {
	_, ok := number(s)
	return ok
}

// join adds the words of the lines below to a row that a mail client has
// wrapped, until it has as many as wanted. used is how many lines it took, at
// least one.
func join(list []line, want int) (words []string, used int) {
	words, used = list[0].fields(), 1
	for len(words) < want && used < len(list) && used < 4 {
		more := list[used].fields()
		if len(more) == 0 || len(words)+len(more) > want || !numeric(more[0]) {
			break
		}
		words = append(words, more...)
		used++
	}
	return words, used
}
