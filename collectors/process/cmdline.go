package process

import (
	"path"
	"strings"
)

// command is a JVM's command line taken apart.
type command struct {
	program   string // last part of argv[0]
	java      bool
	options   []string // of the JVM; hostile and full of secrets until sieved
	classPath string
	main      string // main class, module or jar
	args      []string
}

// maxArgs bounds how much of a command line is looked at.
const maxArgs = 4096

// twoWordOptions of the java launcher have their value in the next argument
// (java(1)).
var twoWordOptions = map[string]bool{
	"-cp": true, "-classpath": true, "--class-path": true, "-p": true, "--module-path": true, "--upgrade-module-path": true,
	"--add-modules": true, "--limit-modules": true, "--add-exports": true, "--add-opens": true, "--add-reads": true,
	"--patch-module": true, "--enable-native-access": true, "--source": true,
}

// parseCommand takes /proc/PID/cmdline apart. Only what a java launcher was
// given is looked into: a shell that names the main class is no broker.
func parseCommand(comm string, cmdline []byte) command {
	argv := strings.SplitN(strings.TrimSuffix(string(cmdline), "\x00"), "\x00", maxArgs)
	c := command{program: path.Base(argv[0])}
	c.java = isJVM(c.program) || isJVM(comm)
	if !c.java {
		return c
	}
	for i := 1; i < len(argv); i++ {
		a := argv[i]
		name, value, joined := strings.Cut(a, "=")
		switch {
		case !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "@"):
			c.main, c.args = a, argv[i+1:]
			return c
		case (a == "-jar" || a == "-m" || a == "--module") && i+1 < len(argv):
			c.main, c.args = argv[i+1], argv[i+2:]
			return c
		case name == "--class-path" && joined:
			c.classPath = value
		case twoWordOptions[a] && i+1 < len(argv):
			i++
			if a == "-cp" || a == "-classpath" || a == "--class-path" {
				c.classPath = argv[i]
			}
		default:
			c.options = append(c.options, a)
		}
	}
	return c
}

func isJVM(name string) bool { return name == "java" || name == "jsvc" }

// option returns the value of the program's own option: "-c file",
// "--configFile file" or "--configFile=file".
func (c *command) option(names ...string) string {
	for i, a := range c.args {
		for _, n := range names {
			if a == n && i+1 < len(c.args) {
				return c.args[i+1]
			}
			if v, ok := strings.CutPrefix(a, n+"="); ok {
				return v
			}
		}
	}
	return ""
}

// first returns the program's first argument.
func (c *command) first() string {
	if len(c.args) == 0 {
		return ""
	}
	return c.args[0]
}

// property returns the value of a -D option.
func (c *command) property(name string) string {
	for _, o := range c.options {
		if v, ok := strings.CutPrefix(o, "-D"+name+"="); ok {
			return v
		}
	}
	return ""
}
