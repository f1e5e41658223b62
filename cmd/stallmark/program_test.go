package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// result is what a run of the program gave.
type result struct {
	code           int
	stdout, stderr string
}

// runProgram runs a command line in this process.
func runProgram(t *testing.T, args ...string) result {
	t.Helper()
	var out, err bytes.Buffer
	p := &program{version: "v0-test", stdout: &out, stderr: &err, now: time.Now, screen: screen{width: 100}}
	code := p.run(context.Background(), args)
	return result{code, out.String(), err.String()}
}

func TestUsage(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		args []string
		code int
		want string // in stdout or stderr
	}{
		"help":                     {[]string{"--help"}, 0, "Commands (serve, if none is named)"},
		"help of a command":        {[]string{"diagnose", "--help"}, 0, "Exit codes: 0 nothing found"},
		"help as a command":        {[]string{"help", "record"}, 0, "-o FILE"},
		"help after an option":     {[]string{"--interval", "1s", "serve", "-h"}, 0, "ssh -L 8411"},
		"version":                  {[]string{"version"}, 0, "stallmark v0-test"},
		"version as JSON":          {[]string{"version", "--json"}, 0, `"version":"v0-test"`},
		"unknown command":          {[]string{"serf"}, 2, `there is no command "serf"`},
		"unknown option":           {[]string{"diagnose", "--foo"}, 2, "flag provided but not defined: -foo"},
		"option of another":        {[]string{"--insecure-listen", "version"}, 2, "--insecure-listen is no option of version"},
		"bad interval":             {[]string{"--interval", "10ms", "version"}, 2, "want at least 100ms"},
		"no time":                  {[]string{"diagnose", "--for", "soon"}, 2, "want a time as in"},
		"no rules folder":          {[]string{"version", "--rules", filepath.Join(dir, "none")}, 2, "no such file"},
		"listening to the world":   {[]string{"serve", "--listen", "0.0.0.0:0", "--data", dir}, 2, "--insecure-listen"},
		"no port":                  {[]string{"serve", "--listen", "localhost", "--data", dir}, 2, "want HOST:PORT"},
		"serve takes no argument":  {[]string{"serve", "now"}, 2, "serve takes no arguments"},
		"record without a file":    {[]string{"record"}, 2, "record needs -o FILE"},
		"for with a recording":     {[]string{"diagnose", "--for", "1s", "x"}, 2, "not for recordings"},
		"missing recording":        {[]string{"diagnose", filepath.Join(dir, "none")}, 2, "no such file"},
		"rules without a word":     {[]string{"rules"}, 2, "say list, check, test or match"},
		"rules with another":       {[]string{"rules", "eat"}, 2, `there is no "eat"`},
		"rules of a missing place": {[]string{"rules", "check", filepath.Join(dir, "none")}, 2, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			got := runProgram(t, c.args...)
			if got.code != c.code || !strings.Contains(got.stdout+got.stderr, c.want) {
				t.Errorf("%q: code %d, want %d; want %q in\n%s%s", c.args, got.code, c.code, c.want, got.stdout, got.stderr)
			}
		})
	}
}

func TestEveryCommandHasHelp(t *testing.T) {
	for _, c := range commands() {
		got := runProgram(t, c.name, "--help")
		if got.code != exitOK || !strings.Contains(got.stdout, "stallmark "+c.name) || !strings.Contains(got.stdout, "--procfs DIR") {
			t.Errorf("%s --help: code %d\n%s%s", c.name, got.code, got.stdout, got.stderr)
		}
		if strings.Contains(runProgram(t, "--help").stdout, "  "+c.name) == c.hidden {
			t.Errorf("%s: listed when it should not be, or not when it should", c.name)
		}
	}
}

func TestOptionsBeforeAndAfter(t *testing.T) {
	p := &program{}
	for _, args := range [][]string{
		{"--watch", "java", "--interval", "2s", "diagnose", "--json", "a", "b"},
		{"diagnose", "--interval=2s", "a", "--watch", "java", "b", "--json"},
		{"--interval", "2s", "diagnose", "--watch=java", "--json", "--", "a", "b"},
	} {
		o := newOptions()
		cmd, rest, err := p.parse(o, args)
		if err != nil {
			t.Fatal(err)
		}
		if cmd.name != "diagnose" || strings.Join(rest, " ") != "a b" || o.interval != 2*time.Second || !o.json || strings.Join(o.watch, " ") != "java" {
			t.Errorf("%q: %s %q %+v", args, cmd.name, rest, o)
		}
	}
	o := newOptions()
	if cmd, _, err := p.parse(o, []string{"--insecure-listen"}); err != nil || cmd.name != "serve" || !o.insecureListen {
		t.Errorf("serve is not the default: %s, %v", cmd.name, err)
	}
}

func TestConfigFile(t *testing.T) {
	for name, c := range map[string]struct {
		yaml string
		want string // in the error, empty for none
	}{
		"empty":          {"", ""},
		"all kinds":      {"interval: 2s\nwatch: [java, 42]\ninsecure-listen: true\nmax-bytes: 1GiB\nrollup-retention: 7d\n", ""},
		"unknown key":    {"interval: 1s\n  \nintervall: 2s\n", `3:1: there is no option "intervall"; options are procfs,`},
		"twice":          {"data: /a\ndata: /b\n", "2:1: data is there twice"},
		"bad value":      {"data: /a\ninterval: soon\n", `2:11: interval: "soon": want a time`},
		"bad in a list":  {"watch:\n  - a\n  - [b]\n", "3:5: watch: want a plain value"},
		"list for one":   {"data: [a]\n", "1:7: data: want a plain value"},
		"not a mapping":  {"- a\n", "1:1: want a mapping"},
		"no YAML":        {"data: /a\nrules: b: c\n", "line 2"},
		"not for a file": {"config: x\n", "1:1: there is no option"},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOptions()
			err := o.apply([]byte(c.yaml))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
	o := newOptions()
	if err := o.apply([]byte("interval: 2s\nwatch: [java, 42]\nmax-bytes: 1GiB\nrollup-retention: 7d\n")); err != nil {
		t.Fatal(err)
	}
	if o.interval != 2*time.Second || strings.Join(o.watch, ",") != "java,42" || o.maxBytes != 1<<30 || o.rollupRetention != 7*24*time.Hour {
		t.Errorf("options = %+v", o)
	}
}

func TestCommandLineGoesBeforeTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte("interval: 5s\ndata: /from-the-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := newOptions()
	if _, _, err := (&program{}).parse(o, []string{"--interval", "2s", "version", "--config", file}); err != nil {
		t.Fatal(err)
	}
	if err := o.loadConfig(); err != nil {
		t.Fatal(err)
	}
	if o.interval != 2*time.Second || o.data != "/from-the-file" {
		t.Errorf("interval %v, data %s", o.interval, o.data)
	}
}

func FuzzConfig(f *testing.F) {
	f.Add([]byte("interval: 2s\nwatch: [java]\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = newOptions().apply(data)
	})
}

func TestDefaultsReadAsTheyAreWritten(t *testing.T) {
	for _, text := range []string{"30d", "48h", "15m0s", "1s", "1.5s", "36h"} {
		var p period
		if err := p.Set(text); err != nil {
			t.Fatal(err)
		}
		var again period
		if err := again.Set(p.String()); err != nil || again != p {
			t.Errorf("%s reads %s, which is %v, %v", text, p.String(), again, err)
		}
	}
	for _, text := range []string{"2GiB", "1500MiB", "1000", "3KiB"} {
		var n size
		if err := n.Set(text); err != nil {
			t.Fatal(err)
		}
		var again size
		if err := again.Set(n.String()); err != nil || again != n {
			t.Errorf("%s reads %s", text, n.String())
		}
	}
}
