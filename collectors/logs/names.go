package logs

import (
	"path"
	"regexp"
	"strings"
)

// packedNames end what is compressed after rotation: such a file is never
// written to again.
var packedNames = []string{".gz", ".zst"}

// unpackedName cuts the ending of a compressed file off.
func unpackedName(name string) (plain string, packed bool) {
	for _, ending := range packedNames {
		if plain, ok := strings.CutSuffix(name, ending); ok {
			return plain, true
		}
	}
	return name, false
}

// What rotation appends to a name: a JVM's number and mark of the file in use, a
// number, a date as logrotate, log4j and logback write it, or both.
var (
	rotatedEnd  = regexp.MustCompile(`^(.+?)(?:\.\d{1,4}(?:\.current)?|[.-]\d{8}(?:[-_.]?\d{1,10})?|[.-]\d{4}-\d{2}-\d{2}(?:[-_T.]\d{1,6}){0,3}|\.(?:old|bak|prev))$`)
	rotatedStem = regexp.MustCompile(`^(.+?)(?:\.\d{1,4}|[.-]\d{8}(?:[-_.]?\d{1,10})?|[.-]\d{4}-\d{2}-\d{2}(?:[-_T.]\d{1,6}){0,3})(\.(?:log|out|txt))$`)
)

// candidatesOf lists the names that a rotated file may have had before, its own
// first: store.log for store.log.1.gz and, if there is such a file, for
// store.2024-01-01.log.
func candidatesOf(name string) []string {
	plain, _ := unpackedName(name)
	list := []string{plain}
	if m := rotatedEnd.FindStringSubmatch(plain); m != nil {
		list = append(list, m[1])
	}
	if m := rotatedStem.FindStringSubmatch(plain); m != nil {
		list = append(list, m[1]+m[2])
	}
	return list
}

// baseOf finds which stream a name in a folder belongs to: the last of its
// earlier names that the patterns want. A name with something in its stem
// belongs to another only if that is there too: server.1.log may be a log of its
// own.
func baseOf(name string, patterns []string, exists func(string) bool) (string, bool) {
	base, found := "", false
	plain, packed := unpackedName(name)
	for i, c := range candidatesOf(name) {
		if !matchesAny(c, patterns) {
			continue
		}
		stem := i > 0 && !strings.HasPrefix(plain, c+".") && !strings.HasPrefix(plain, c+"-")
		if stem && !exists(c) {
			continue
		}
		base, found = c, true
	}
	if found && packed && base == plain && !exists(plain) {
		return "", false // history of nothing that is there
	}
	return base, found
}

func matchesAny(name string, patterns []string) bool {
	for _, p := range patterns {
		if ok, err := path.Match(p, name); err == nil && ok {
			return true
		}
	}
	return false
}
