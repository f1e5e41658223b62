package stallmark

import (
	"go/ast"
	"go/parser"
	"slices"
	"strings"
	"testing"
)

// watcher tells the files of the program that watches from tests and drills.
func watcher(path string) bool {
	return strings.Contains(path, "/") && !isTest(path) && !strings.HasPrefix(path, "cmd/stalldrill/")
}

// TestNetdataCVE202432019RunsNoPrograms holds that nothing is run but this program
// itself, as the child that keeps the data file (Netdata CVE-2024-32019, and
// CVE-2023-22496: a program that is found by PATH or named by a peer).
func TestNetdataCVE202432019RunsNoPrograms(t *testing.T) {
	homes := []string{"storage/store.go", "storage/process.go", "cmd/stallmark/child.go"}
	for _, src := range sources(t, parser.SkipObjectResolution, watcher) {
		for _, imp := range src.file.Imports {
			if slices.Contains([]string{`"os/exec"`, `"plugin"`}, imp.Path.Value) && !slices.Contains(homes, src.path) {
				t.Errorf("%s imports %s", src.path, imp.Path.Value)
			}
		}
		for _, name := range uses(src.file) {
			switch name {
			case "exec.Command", "exec.LookPath", "os.StartProcess", "syscall.ForkExec", "syscall.Exec", "syscall.StartProcess", "unix.Exec":
				t.Errorf("%s: %s", src.path, name)
			case "exec.CommandContext":
				if src.path != "cmd/stallmark/child.go" {
					t.Errorf("%s: %s", src.path, name)
				}
			}
		}
	}
}

// TestAtopCVE202531160DialsNobody holds that the service connects to nobody, and a
// command to the service at --listen alone (atop CVE-2025-31160: whoever listens
// on a port was believed; Kafka CVE-2023-25194: a visitor named whom to dial).
func TestAtopCVE202531160DialsNobody(t *testing.T) {
	asks := []string{"cmd/stallmark/snapshotcreate.go", "cmd/stallmark/postmortem.go", "cmd/stallmark/peer.go"}
	dials := []string{
		"net.Dial", "net.DialTimeout", "net.Dialer", "net.DialTCP", "net.DialUDP", "net.DialUnix", "tls.Dial", "unix.Connect", "syscall.Connect",
		"http.Get", "http.Head", "http.Post", "http.PostForm", "http.Client", "http.DefaultClient", "http.Transport", "http.DefaultTransport",
	}
	found := map[string]bool{}
	for _, src := range sources(t, parser.SkipObjectResolution, watcher) {
		for _, name := range uses(src.file) {
			if !slices.Contains(dials, name) {
				continue
			}
			if found[src.path] = true; !slices.Contains(asks, src.path) {
				t.Errorf("%s: %s", src.path, name)
			}
		}
	}
	if len(found) < len(asks) {
		t.Errorf("found in %v only: does this test still see calls?", found)
	}
}

// uses lists what a file uses of packages, as in net.Dial.
func uses(f *ast.File) []string {
	var all []string
	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok {
				all = append(all, x.Name+"."+sel.Sel.Name)
			}
		}
		return true
	})
	return all
}
