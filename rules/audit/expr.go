package audit

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// mistake is an error at a byte offset in an expression's text.
type mistake struct {
	offset int
	text   string
}

func (m mistake) Error() string { return m.text }

// parseExpression reads an expression: names, numbers, "texts", true and false,
// + - * /, comparisons, && || and functions, with Go's grammar. It may refer to
// the given names only.
func parseExpression(text string, names []string) (*expression, error) {
	// A line break would end the expression in Go; a blank does not move offsets.
	flat := strings.ReplaceAll(text, "\n", " ")
	fset := token.NewFileSet()
	tree, err := parser.ParseExprFrom(fset, "", flat, 0)
	if list, ok := errors.AsType[scanner.ErrorList](err); ok && len(list) > 0 {
		return nil, mistake{list[0].Pos.Offset, list[0].Msg}
	}
	if err != nil {
		return nil, mistake{0, err.Error()}
	}
	c := &examiner{names: names, functions: functions()}
	c.examine(tree)
	if c.found != nil {
		return nil, *c.found
	}
	return &expression{text: text, tree: tree}, nil
}

// examiner finds the first thing in an expression that has no meaning here.
type examiner struct {
	names     []string
	functions map[string]function
	found     *mistake
}

func (c *examiner) fail(n ast.Node, format string, args ...any) {
	if c.found == nil {
		c.found = &mistake{int(n.Pos()) - 1, fmt.Sprintf(format, args...)}
	}
}

func (c *examiner) examine(e ast.Expr) {
	switch e := e.(type) {
	case *ast.Ident:
		if _, constant := constantOf(e.Name); !constant && !slices.Contains(c.names, e.Name) {
			c.fail(e, "there is no %q under `reads` or above it under `values`", e.Name)
		}
	case *ast.BasicLit:
		if e.Kind != token.INT && e.Kind != token.FLOAT && e.Kind != token.STRING {
			c.fail(e, "%s: want a number or a \"text\"", e.Value)
		}
	case *ast.ParenExpr:
		c.examine(e.X)
	case *ast.UnaryExpr:
		if e.Op != token.NOT && e.Op != token.SUB {
			c.fail(e, "%s is no operator of an expression", e.Op)
		}
		c.examine(e.X)
	case *ast.BinaryExpr:
		if !isOperator(e.Op) {
			c.fail(e.Y, "%s is no operator of an expression", e.Op)
		}
		c.examine(e.X)
		c.examine(e.Y)
	case *ast.CallExpr:
		c.call(e)
	default:
		c.fail(e, "want names, numbers, \"texts\", operators and functions")
	}
}

func (c *examiner) call(e *ast.CallExpr) {
	name, ok := e.Fun.(*ast.Ident)
	if !ok {
		c.fail(e, "want the name of a function before the bracket")
		return
	}
	if isPresence(name.Name) {
		if len(e.Args) == 1 {
			if _, plain := e.Args[0].(*ast.Ident); plain {
				c.examine(e.Args[0])
				return
			}
		}
		c.fail(e, "%s wants one name", name.Name)
		return
	}
	f, ok := c.functions[name.Name]
	switch {
	case !ok:
		c.fail(e, "there is no function %q", name.Name)
		return
	case len(e.Args) < f.least || f.most >= 0 && len(e.Args) > f.most:
		c.fail(e, "%s: wrong number of arguments", name.Name)
	}
	for _, a := range e.Args {
		c.examine(a)
	}
}

func isOperator(op token.Token) bool {
	switch op {
	case token.ADD, token.SUB, token.MUL, token.QUO, token.LAND, token.LOR,
		token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		return true
	}
	return false
}

// isPresence names the two functions that ask whether a value is there.
func isPresence(name string) bool { return name == "has" || name == "lacks" }

// constantOf gives the names that are always known.
func constantOf(name string) (any, bool) {
	switch name {
	case "true":
		return true, true
	case "false":
		return false, true
	case "KiB":
		return float64(1 << 10), true
	case "MiB":
		return float64(1 << 20), true
	case "GiB":
		return float64(1 << 30), true
	}
	return nil, false
}
