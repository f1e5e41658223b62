package process

import (
	"path"
	"strings"
)

// sieveFlags keeps the allow-listed JVM options as facts "flag.<name>": a
// switch is true or false, an option that is given several times (-Xlog) has
// its values joined by blanks.
func sieveFlags(options []string) []fact {
	var kept []fact
	at := map[string]int{}
	for _, o := range options {
		name, value, ok := sieveFlag(o)
		if !ok {
			continue
		}
		i, again := at[name]
		switch {
		case !again:
			at[name] = len(kept)
			kept = append(kept, fact{"flag." + name, value})
		case name == "Xlog":
			kept[i].value += " " + value
		default:
			kept[i].value = value // the JVM takes the last
		}
	}
	return kept
}

// sieveFlag splits one option if it may be kept.
func sieveFlag(o string) (name, value string, ok bool) {
	if xx, is := strings.CutPrefix(o, "-XX:"); is {
		name, value = switchOf(xx)
		kind, listed := keptXX[name]
		return name, value, listed && kind.fits(value)
	}
	if d, is := strings.CutPrefix(o, "-D"); is {
		name, value, _ = strings.Cut(d, "=")
		kind, listed := keptD[name]
		return name, value, listed && kind.fits(value)
	}
	for _, x := range keptX {
		if v, is := strings.CutPrefix(o, "-"+x.prefix); is {
			return strings.TrimSuffix(x.prefix, ":"), v, x.kind.fits(v)
		}
	}
	return "", "", false
}

// switchOf splits "+UseG1GC", "-UseG1GC" and "MaxGCPauseMillis=20".
func switchOf(xx string) (name, value string) {
	switch {
	case strings.HasPrefix(xx, "+"):
		return xx[1:], "true"
	case strings.HasPrefix(xx, "-"):
		return xx[1:], "false"
	}
	name, value, _ = strings.Cut(xx, "=")
	return name, value
}

// gcLogOf finds the GC log's path: -Xloggc:PATH, or the output of an -Xlog
// selector with gc (-Xlog:gc*:file=PATH:decorators:options). Placeholders (%p,
// %t) stay as they are.
func gcLogOf(options []string) string {
	log := ""
	for _, o := range options {
		if v, ok := strings.CutPrefix(o, "-Xloggc:"); ok {
			log = v
			continue
		}
		v, ok := strings.CutPrefix(o, "-Xlog:")
		if !ok {
			continue
		}
		what, rest, _ := strings.Cut(v, ":")
		output, _, _ := strings.Cut(rest, ":")
		output = strings.Trim(strings.TrimPrefix(output, "file="), `"`)
		if selects(what, "gc") && output != "" && output != "stdout" && output != "stderr" {
			log = output
		}
	}
	if !kindPath.fits(log) {
		return ""
	}
	return log
}

// selects reports whether an -Xlog selection ("gc*=info,safepoint") has a tag.
func selects(what, tag string) bool {
	for s := range strings.SplitSeq(what, ",") {
		s, _, _ = strings.Cut(s, "=")
		for t := range strings.SplitSeq(strings.TrimSuffix(s, "*"), "+") {
			if t == tag {
				return true
			}
		}
	}
	return false
}

// absolute makes a path of a process absolute; empty if it cannot be.
func absolute(p, cwd string) string {
	switch {
	case p == "":
		return ""
	case path.IsAbs(p):
		return path.Clean(p)
	case !path.IsAbs(cwd):
		return ""
	}
	return path.Join(cwd, p)
}

// absoluteList does so for a list with commas.
func absoluteList(list, cwd string) string {
	var out []string
	for p := range strings.SplitSeq(list, ",") {
		if p = absolute(strings.TrimSpace(p), cwd); p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, ",")
}
