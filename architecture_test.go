package stallmark

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mayImport says which of our folders a folder may import, besides folders
// below itself. DESIGN: model <- storage, collectors, rules <- web <- cmd.
var mayImport = map[string][]string{
	"storage/model": {},
	"storage":       {"storage/model"},
	// A snapshot is a file of its own, without bbolt: the page may read it.
	"storage/snapshot": {"storage", "storage/model"},
	"collectors":       {"storage/model", "collectors"},
	"rules":            {"storage/model"},
	"assets":           {},
	"web":              {"storage/model", "storage/snapshot", "rules", "assets", "web"},
	"cmd":              {"storage", "storage/model", "storage/snapshot", "collectors", "rules", "web", "assets"},
}

// foreign are modules with one home: bbolt is opened by storage alone, and the
// vocabulary has no dependencies at all.
var foreign = map[string][]string{
	"go.etcd.io/bbolt":                        {"storage"},
	"github.com/go-chi/chi/v5":                {"web"},
	"github.com/a-h/templ":                    {"web"},
	"github.com/prometheus/procfs":            {"collectors"},
	"github.com/shirou/gopsutil/v3":           {"collectors", "cmd"},
	"github.com/prometheus/prometheus/promql": {"rules", "web", "cmd"},
	"github.com/klauspost/compress/":          {"storage", "collectors", "cmd"},
}

// source is one parsed Go file.
type source struct {
	path string // slash-separated, from the root of the module
	file *ast.File
}

// sources parses all Go files of the module that pass keep.
func sources(t *testing.T, mode parser.Mode, keep func(path string) bool) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" {
			return filepath.SkipDir
		}
		path = filepath.ToSlash(path)
		if !strings.HasSuffix(path, ".go") || !keep(path) {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, mode)
		if err != nil {
			return err
		}
		all = append(all, source{path, f})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no Go files found")
	}
	return all
}

func isTest(path string) bool { return strings.HasSuffix(path, "_test.go") }

// home is the entry of mayImport that a path belongs to, the longest match.
func home(path string) string {
	best := ""
	for dir := range mayImport {
		if (path == dir || strings.HasPrefix(path, dir+"/")) && len(dir) > len(best) {
			best = dir
		}
	}
	return best
}

// violation names what is wrong with an import, empty if nothing is.
func violation(path, imported string) string {
	from := home(path)
	if own, ok := strings.CutPrefix(imported, "stallmark/"); ok {
		to := home(own)
		if to == from || slices.Contains(mayImport[from], to) {
			return ""
		}
		return path + " imports " + imported + ": " + from + " may import only " + strings.Join(mayImport[from], ", ")
	}
	if from == "storage/model" && strings.Contains(imported, ".") {
		return path + " imports " + imported + ": the vocabulary uses the standard library only"
	}
	for module, homes := range foreign {
		inside := strings.HasPrefix(imported, module)
		if inside && !slices.ContainsFunc(homes, func(h string) bool { return strings.HasPrefix(path, h+"/") }) {
			return path + " imports " + imported + ", whose home is " + strings.Join(homes, ", ")
		}
	}
	return ""
}

func TestImportDirections(t *testing.T) {
	program := func(path string) bool { return strings.Contains(path, "/") && !isTest(path) }
	for _, src := range sources(t, parser.ImportsOnly, program) {
		for _, imp := range src.file.Imports {
			name, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if v := violation(src.path, name); v != "" {
				t.Error(v)
			}
		}
	}
}

func TestImportDirectionsCatchViolations(t *testing.T) {
	planted := [][2]string{
		{"collectors/host/vmstat.go", "stallmark/storage"},
		{"collectors/host/vmstat.go", "stallmark/rules"},
		{"rules/engine.go", "go.etcd.io/bbolt"},
		{"rules/engine.go", "stallmark/collectors"},
		{"storage/head.go", "stallmark/collectors"},
		{"web/server.go", "stallmark/storage"},
		{"web/server.go", "stallmark/cmd/stallmark"},
		{"storage/model/series.go", "github.com/prometheus/prometheus/model/labels"},
	}
	for _, p := range planted {
		if violation(p[0], p[1]) == "" {
			t.Errorf("%s may import %s", p[0], p[1])
		}
	}
}

func TestTopLevelFolders(t *testing.T) {
	want := []string{"cmd", "web", "collectors", "storage", "rules", "assets"}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && e.Name() != "bin" && !slices.Contains(want, e.Name()) {
			t.Errorf("top-level folder %s: want only %s", e.Name(), strings.Join(want, ", "))
		}
	}
}

func TestEveryPackageHasADocComment(t *testing.T) {
	documented := map[string]bool{}
	for _, src := range sources(t, parser.ParseComments, func(p string) bool { return !isTest(p) }) {
		dir := filepath.Dir(src.path)
		documented[dir] = documented[dir] || src.file.Doc != nil
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("package in %s has no doc comment: add a doc.go", dir)
		}
	}
}

// opens are the packages whose functions take a path of this machine.
var opens = []string{"os", "unix", "filepath", "syscall", "procfs"}

// TestHostIsInjected keeps the clock, /proc and /sys in the places that inject
// them: the commands and the live root.
func TestHostIsInjected(t *testing.T) {
	inject := func(path string) bool { return strings.HasPrefix(path, "cmd/") || path == "collectors/root.go" }
	program := func(path string) bool { return !isTest(path) && !inject(path) && !strings.HasSuffix(path, "_templ.go") }
	for _, src := range sources(t, parser.SkipObjectResolution, program) {
		for _, fault := range uninjected(src.file) {
			t.Errorf("%s %s", src.path, fault)
		}
	}
}

func TestHostIsInjectedCatchesViolations(t *testing.T) {
	planted := []string{
		`var now = time.Now`,
		`func f() { os.ReadFile("/proc/vmstat") }`,
		`func f() { filepath.Join("/sys", "block") }`,
		`func init() {}`,
	}
	for _, code := range planted {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+code, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if len(uninjected(f)) != 1 {
			t.Errorf("%s: not caught", code)
		}
	}
}

// uninjected lists what a file takes from the machine it runs on, and its init
// functions.
func uninjected(f *ast.File) []string {
	var faults []string
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if pkg, ok := n.X.(*ast.Ident); ok && pkg.Name == "time" && n.Sel.Name == "Now" {
				faults = append(faults, "uses time.Now: take the clock as a value")
			}
		case *ast.CallExpr:
			if path := hostPath(n); path != "" {
				faults = append(faults, "opens "+path+": read through a Root")
			}
		case *ast.FuncDecl:
			if n.Recv == nil && n.Name.Name == "init" {
				faults = append(faults, "has an init function")
			}
		}
		return true
	})
	return faults
}

// hostPath is the literal path below /proc or /sys that a call is given.
func hostPath(call *ast.CallExpr) string {
	fun, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	pkg, ok := fun.X.(*ast.Ident)
	if !ok || !slices.Contains(opens, pkg.Name) {
		return ""
	}
	for _, arg := range call.Args {
		lit, ok := arg.(*ast.BasicLit)
		if ok && (strings.HasPrefix(lit.Value, `"/proc`) || strings.HasPrefix(lit.Value, `"/sys`)) {
			return lit.Value
		}
	}
	return ""
}
