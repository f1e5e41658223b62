package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// complete asks bash what may follow; the last word is under the cursor.
func complete(t *testing.T, dir string, words ...string) []string {
	t.Helper()
	script := runProgram(t, "completion", "bash").stdout + `
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _stallmark_words; printf '%s\n' "${COMPREPLY[@]}"`
	cmd := exec.CommandContext(t.Context(), "bash", append([]string{"-c", script, "bash", "stallmark"}, words...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	found := strings.Fields(string(out))
	slices.Sort(found)
	return found
}

func TestBashCompletion(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file.tar.zst"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		words []string
		want  []string
	}{
		{[]string{"di"}, []string{"diagnose"}},
		{[]string{"r"}, []string{"record", "rules"}},
		{[]string{"storage"}, nil},
		{[]string{"--listen", "127.0.0.1:1", "ver"}, []string{"version"}},
		{[]string{"diagnose", "--j"}, []string{"--json"}},
		{[]string{"--rete"}, []string{"--retention"}},
		{[]string{"diagnose", "--rete"}, nil},
		{[]string{"diagnose", "f"}, []string{"file.tar.zst", "folder"}},
		{[]string{"--data", "f"}, []string{"folder"}},
		{[]string{"record", "-o", "f"}, []string{"file.tar.zst", "folder"}},
		{[]string{"--interval", ""}, nil},
		{[]string{"rules", "te"}, []string{"test"}},
		{[]string{"rules", "test", "fo"}, []string{"folder"}},
		{[]string{"completion", ""}, []string{"bash", "fish", "zsh"}},
	} {
		if got := complete(t, dir, c.words...); !slices.Equal(got, c.want) && len(got)+len(c.want) > 0 {
			t.Errorf("%q: %q, want %q", c.words, got, c.want)
		}
	}
}

func TestCompletionKnowsEverything(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		got := runProgram(t, "completion", shell)
		for _, c := range words() {
			for _, o := range c.table {
				long, fish := o.flag(), "seen_subcommand_from "+c.name+"' "+fishOption(o)
				if text := map[bool]string{true: fish, false: long}[shell == "fish"]; !strings.Contains(got.stdout, text) {
					t.Errorf("%s does not know %q of %s", shell, text, c.name)
				}
			}
		}
		if strings.Contains(got.stdout, childName) || got.code != exitOK {
			t.Errorf("%s: code %d, or it tells of hidden commands", shell, got.code)
		}
	}
	for _, args := range [][]string{{"completion"}, {"completion", "tcsh"}, {"completion", "bash", "zsh"}} {
		if got := runProgram(t, args...); got.code != exitUsage {
			t.Errorf("%q: code %d", args, got.code)
		}
	}
	if got := fishQuote(`it's a \ path`); got != `'it\'s a \\ path'` {
		t.Error(got)
	}
}

func TestManual(t *testing.T) {
	page := runProgram(t, "manual").stdout
	for _, c := range words() {
		if !strings.Contains(page, roffText(c.summary)) {
			t.Errorf("%s is not in it", c.name)
		}
		for _, o := range c.table {
			if !strings.Contains(page, ".B "+roffText(strings.TrimSpace(o.flag()+" "+o.arg))+"\n") {
				t.Errorf("%s of %s is not in it", o.flag(), c.name)
			}
		}
	}
	known := []string{".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".br", ".nf", ".fi"}
	for line := range strings.Lines(page) {
		request, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !slices.Contains(known, request) {
			t.Errorf("taken for a request: %q", line)
		}
	}
	if got := roffText(".a\n'b\nc\\d-e"); got != "\\&.a\n\\&'b\nc\\ed\\-e" {
		t.Errorf("%q", got)
	}
}
