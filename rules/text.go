package rules

import (
	"errors"
	"fmt"
	"strings"
	"text/template/parse"
)

// Texts have the syntax of Go templates, and its parser. They are filled in by
// the few lines here instead of by package text/template, for two reasons: what
// can be reached from a text is exactly what is here, however somebody writes it;
// and the linker, which has to keep every method of every type where that
// package is used, leaves out a sixth of the program.

// textData is what a text refers to: the fields of its dot.
type textData map[string]any

// parseText reads a text. Names of functions that Go's templates know are known
// here too, so that it can be said that they are not for texts.
func parseText(source string) (map[string]*parse.Tree, error) {
	known := map[string]any{}
	for _, name := range textFuncs() {
		known[name] = true
	}
	for _, name := range []string{"call", "html", "js", "len", "print", "printf", "println", "slice", "urlquery"} {
		known[name] = true
	}
	return parse.Parse("text", source, "", "", known)
}

// textFuncs are the names that a text may call.
func textFuncs() []string {
	return []string{
		"fact", "bytes", "format", "int", "round",
		"and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "index",
	}
}

// filler fills in one text.
type filler struct {
	out  limitedBuilder
	fact func(key string) any
	vars []variable
}

// variable is one that a text has declared; the first is $, all data.
type variable struct {
	name  string
	value any
}

// fill writes a node with the given dot.
func (f *filler) fill(n parse.Node, dot any) error {
	switch n := n.(type) {
	case *parse.ListNode:
		if n == nil {
			return nil
		}
		for _, e := range n.Nodes {
			if err := f.fill(e, dot); err != nil {
				return err
			}
		}
		return nil
	case *parse.TextNode:
		_, err := f.out.Write(n.Text)
		return err
	case *parse.CommentNode:
		return nil
	case *parse.ActionNode:
		return f.action(n, dot)
	case *parse.IfNode:
		return f.branch(&n.BranchNode, dot, false)
	case *parse.WithNode:
		return f.branch(&n.BranchNode, dot, true)
	}
	return fmt.Errorf("%s is not for texts", n)
}

// action writes the value of a pipeline, unless it is a declaration.
func (f *filler) action(n *parse.ActionNode, dot any) error {
	v, err := f.pipe(n.Pipe, dot)
	if err != nil || len(n.Pipe.Decl) > 0 {
		return err
	}
	if v == nil {
		return errMissing
	}
	_, err = fmt.Fprint(&f.out, v)
	return err
}

// branch is if and with.
func (f *filler) branch(n *parse.BranchNode, dot any, with bool) error {
	defer f.forget(len(f.vars))
	v, err := f.pipe(n.Pipe, dot)
	switch {
	case err != nil:
		return err
	case !truth(v):
		return f.fill(n.ElseList, dot)
	case with:
		dot = v
	}
	return f.fill(n.List, dot)
}

// forget ends the life of variables.
func (f *filler) forget(n int) { f.vars = f.vars[:n] }

// pipe evaluates a pipeline: each command gets what the one before gave as its
// last argument.
func (f *filler) pipe(n *parse.PipeNode, dot any) (v any, err error) {
	if n == nil {
		return nil, errMissing
	}
	var last []any
	for _, c := range n.Cmds {
		if v, err = f.command(c, dot, last); err != nil {
			return nil, err
		}
		last = []any{v}
	}
	for _, d := range n.Decl {
		if err := f.declare(d.Ident[0], v, n.IsAssign); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// declare makes a variable, or changes one.
func (f *filler) declare(name string, v any, change bool) error {
	if !change {
		f.vars = append(f.vars, variable{name, v})
		return nil
	}
	for i := len(f.vars) - 1; i >= 0; i-- {
		if f.vars[i].name == name {
			f.vars[i].value = v
			return nil
		}
	}
	return fmt.Errorf("there is no %s", name)
}

// command is a function with its arguments, or a value alone.
func (f *filler) command(n *parse.CommandNode, dot any, last []any) (any, error) {
	if name, ok := n.Args[0].(*parse.IdentifierNode); ok {
		return f.call(name.Ident, n.Args[1:], dot, last)
	}
	if len(n.Args) > 1 || len(last) > 0 {
		return nil, fmt.Errorf("%s takes no arguments", n.Args[0])
	}
	if _, ok := n.Args[0].(*parse.NilNode); ok {
		return nil, errors.New("nil is no command")
	}
	return f.value(n.Args[0], dot)
}

// value is a field, a variable, a literal or what stands in parentheses.
func (f *filler) value(n parse.Node, dot any) (any, error) {
	switch n := n.(type) {
	case *parse.DotNode:
		return dot, nil
	case *parse.NilNode:
		return nil, nil
	case *parse.BoolNode:
		return n.True, nil
	case *parse.StringNode:
		return n.Text, nil
	case *parse.NumberNode:
		return literal(n)
	case *parse.FieldNode:
		return fieldOf(dot, n.Ident)
	case *parse.ChainNode:
		v, err := f.value(n.Node, dot)
		if err != nil {
			return nil, err
		}
		return fieldOf(v, n.Field)
	case *parse.VariableNode:
		for i := len(f.vars) - 1; i >= 0; i-- {
			if f.vars[i].name == n.Ident[0] {
				return fieldOf(f.vars[i].value, n.Ident[1:])
			}
		}
	case *parse.PipeNode:
		return f.pipe(n, dot)
	case *parse.IdentifierNode:
		return f.call(n.Ident, nil, dot, nil)
	}
	return nil, fmt.Errorf("%s is not for texts", n)
}

// literal is a number, whole if it is written so.
func literal(n *parse.NumberNode) (any, error) {
	switch {
	case n.IsInt && !strings.ContainsAny(n.Text, ".eEpP") || n.IsInt && strings.HasPrefix(n.Text, "0x"):
		return n.Int64, nil
	case n.IsFloat:
		return n.Float64, nil
	}
	return nil, fmt.Errorf("%s: not a number for texts", n)
}

// fieldOf follows fields. One that is not there is nil; nothing is below nil.
func fieldOf(v any, names []string) (any, error) {
	for _, name := range names {
		switch m := v.(type) {
		case textData:
			v = m[name]
		case map[string]any:
			v = m[name]
		case nil:
			return nil, errMissing
		default:
			return nil, fmt.Errorf("there is no .%s in %T", name, v)
		}
	}
	return v, nil
}
