package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// repository is where Makefile and .install are.
const repository = "../.."

func readInstalled(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repository, ".install", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// makeTarget runs make with this test binary as the program.
func makeTarget(t *testing.T, target, root string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "make", "-s", "-C", repository, target, "STALLMARK="+self, "DESTDIR="+root, "PREFIX=/usr")
	cmd.Env = append(os.Environ(), beStallmark+"=1", "MAKEFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make %s: %v\n%s", target, err, out)
	}
}

// filesBelow lists files with their modes.
func filesBelow(t *testing.T, root string) map[string]fs.FileMode {
	t.Helper()
	found := map[string]fs.FileMode{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		found[strings.TrimPrefix(path, root)] = info.Mode().Perm()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestInstall(t *testing.T) {
	root := t.TempDir()
	makeTarget(t, "install", root)
	found := filesBelow(t, root)
	const config = "/etc/stallmark/stallmark.yaml"
	for name, text := range map[string]string{
		"/usr/bin/stallmark":                        "",
		"/usr/lib/systemd/system/stallmark.service": "ExecStart=/usr/bin/stallmark serve --config /etc/stallmark/stallmark.yaml",
		config:                            "#interval: 1s",
		"/usr/share/man/man8/stallmark.8": ".TH STALLMARK 8",
		"/usr/share/bash-completion/completions/stallmark":    "complete -o filenames -F _stallmark_words stallmark",
		"/usr/share/zsh/site-functions/_stallmark":            "#compdef stallmark",
		"/usr/share/fish/vendor_completions.d/stallmark.fish": "complete -c stallmark",
	} {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil || !strings.Contains(string(data), text) || strings.Contains(text, "Exec") && strings.Contains(string(data), "@BINDIR@") {
			t.Errorf("%s: %v, want %q in it", name, err, text)
		}
		delete(found, name)
	}
	if len(found) > 0 {
		t.Errorf("installed and not expected: %v", found)
	}

	own := []byte("interval: 2s\n")
	if err := os.WriteFile(filepath.Join(root, config), own, 0o600); err != nil {
		t.Fatal(err)
	}
	makeTarget(t, "install", root) // an upgrade
	if data, err := os.ReadFile(filepath.Join(root, config)); err != nil || string(data) != string(own) {
		t.Errorf("the configuration became %q, %v", data, err)
	}
	makeTarget(t, "uninstall", root)
	if left := filesBelow(t, root); len(left) != 1 || left[config] == 0 {
		t.Errorf("left: %v, want the configuration alone", left)
	}
}

// configLine is a key of the default configuration, mostly commented out.
var configLine = regexp.MustCompile(`(?m)^#?([a-z-]+): *(.*)$`)

func TestDefaultConfiguration(t *testing.T) {
	text := readInstalled(t, "stallmark.yaml")
	examples := []string{"watch", "log", "rules", "pprof", "web-config", "external-url"} // their default is empty
	o := newOptions()
	o.data = "/var/lib/stallmark" // of root
	var names []string
	for _, m := range configLine.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
		i := slices.IndexFunc(o.fileTable(), func(opt option) bool { return opt.name == m[1] })
		if i < 0 {
			t.Errorf("%s is no option", m[1])
			continue
		}
		if def := o.fileTable()[i].value.String(); def != m[2] && !slices.Contains(examples, m[1]) {
			t.Errorf("%s: %s, but its default is %s", m[1], m[2], def)
		}
	}
	for _, opt := range o.fileTable() {
		if !opt.local && !slices.Contains(names, opt.name) {
			t.Errorf("%s is not explained", opt.name)
		}
	}
	if err := newOptions().apply([]byte(text)); err != nil {
		t.Errorf("as it is installed: %v", err)
	}
	if err := newOptions().apply([]byte(configLine.ReplaceAllString(text, "$1: $2"))); err != nil {
		t.Errorf("with every key: %v", err)
	}
}

// directive gives the values of a directive of the unit.
func directive(unit, name string) (values []string) {
	for line := range strings.Lines(unit) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+"="); ok {
			values = append(values, value)
		}
	}
	return values
}

func TestUnit(t *testing.T) {
	unit := readInstalled(t, "stallmark.service")
	ambient, bounds := directive(unit, "AmbientCapabilities"), directive(unit, "CapabilityBoundingSet")
	if len(ambient) != 1 || !slices.Equal(ambient, bounds) {
		t.Errorf("ambient %q, bounded %q", ambient, bounds)
	}
	for capability := range strings.FieldsSeq(strings.Join(ambient, " ")) {
		if strings.Count(unit, "#   "+capability+" ") != 1 {
			t.Errorf("%s is given and not explained", capability)
		}
		if !strings.Contains(manual(""), capability) {
			t.Errorf("%s is not in the manual", capability)
		}
	}
	for name, want := range map[string]string{
		"NoNewPrivileges": "yes", "DynamicUser": "yes", "ProtectSystem": "strict", "ProtectHome": "yes", "StateDirectory": "stallmark",
		"OOMScoreAdjust": "-900", "LimitMEMLOCK": "infinity", "KillMode": "mixed",
	} {
		if got := directive(unit, name); !slices.Equal(got, []string{want}) {
			t.Errorf("%s=%q, want %s", name, got, want)
		}
	}
	start := strings.Fields(strings.Join(directive(unit, "ExecStart"), " "))
	p := &program{}
	if cmd, _, err := p.parse(newOptions(), start[1:]); err != nil || cmd.name != "serve" {
		t.Errorf("%q: %s, %v", start, cmd.name, err)
	}
}
