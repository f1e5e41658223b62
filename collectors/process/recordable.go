package process

import (
	"path"
	"strings"
)

// Recordable makes a file of the host fit to leave it, in a recording: of a
// command line only what tells a broker and its settings is kept, by the same
// lists as the facts; everything else is dropped, since passwords are given to
// programs as arguments. Other files go as they are. Names are as in
// collectors.Root.
func Recordable(name string, data []byte) []byte {
	if !strings.HasPrefix(name, "proc/") || path.Base(name) != "cmdline" || name == "proc/cmdline" {
		return data
	}
	if len(data) == 0 {
		return data // a kernel thread
	}
	return []byte(strings.Join(sieveCommand(data), "\x00") + "\x00")
}

// sieveCommand is the arguments that may be kept, in an order that
// parseCommand understands. A process may write anything into its title, so of
// the program only the first word counts.
func sieveCommand(cmdline []byte) []string {
	argv0, _, _ := strings.Cut(string(cmdline), "\x00")
	program, _, _ := strings.Cut(argv0, " ")
	kept := []string{program}
	if !kindPath.fits(program) {
		kept[0] = "?"
	}
	c := parseCommand("", cmdline)
	if !c.java {
		return kept
	}
	if path.Base(kept[0]) != c.program {
		kept[0] = c.program // its folder's name is not fit to be kept
	}
	for _, o := range c.options {
		if _, _, ok := sieveFlag(o); ok || extensionFolders(o) {
			kept = append(kept, o)
		}
	}
	if list := sieveClassPath(c.classPath); list != "" {
		kept = append(kept, "-cp", list)
	}
	if !kindPath.fits(c.main) || strings.HasPrefix(c.main, "-") || strings.HasPrefix(c.main, "@") {
		return kept
	}
	kept = append(kept, c.main)
	if role := recognise(c); role != "" {
		kept = append(kept, sieveArguments(c.args, roles[role].keys)...)
	}
	return kept
}

// extensionFolders reports whether an option names folders of jars, from which
// a version can be told.
func extensionFolders(option string) bool {
	value, ok := strings.CutPrefix(option, "-Djava.ext.dirs=")
	return ok && value != "" && sieveClassPath(value) == value
}

// sieveClassPath keeps the entries that are paths; of a list with a URL, which
// may carry a password, nothing.
func sieveClassPath(list string) string {
	if strings.Contains(list, "://") || strings.Contains(list, "@") {
		return ""
	}
	var kept []string
	for entry := range strings.SplitSeq(list, ":") {
		if kindPath.fits(entry) {
			kept = append(kept, entry)
		}
	}
	return strings.Join(kept, ":")
}

// keptArguments says which of the brokers' own options tell the configuration
// they run with.
func keptArguments(option string) bool {
	switch option {
	case "-c", "--configFile", "-bc", "--brokerConfigPath", "-pc", "--proxyConfigPath", "-pm", "--proxyMode":
		return true
	}
	return false
}

// sieveArguments keeps a broker's leading paths, the options above and
// overrides of allow-listed keys.
func sieveArguments(args []string, keys map[string]valueKind) []string {
	var kept []string
	leading := true
	for i := 0; i < len(args); i++ {
		a := args[i]
		name, value, joined := strings.Cut(a, "=")
		leading = leading && !strings.HasPrefix(a, "-")
		switch {
		case leading && i < 2 && kindPath.fits(a):
			kept = append(kept, a)
		case joined && keptArguments(name) && kindPath.fits(value):
			kept = append(kept, a)
		case i+1 < len(args) && keptArguments(a):
			if i++; kindPath.fits(args[i]) {
				kept = append(kept, a, args[i])
			}
		case i+1 < len(args) && a == "--override":
			i++
			key, value, _ := strings.Cut(args[i], "=")
			if kind, ok := keys[key]; ok && kind.fits(value) {
				kept = append(kept, a, args[i])
			}
		}
	}
	return kept
}
