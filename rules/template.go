package rules

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"

	"go.yaml.in/yaml/v3"
)

// maxRendered bounds a rendered text.
const maxRendered = 16 << 10

// errMissing says that a text needs a value that is not known.
var errMissing = errors.New("a value is missing")

// anyMap makes labels ready for a template: one that is missing is nil and not
// the empty text, so that it can be asked for but not printed.
func anyMap(m map[string]string) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// render fills in a text. It fails with errMissing rather than leave a hole.
func render(source string, data textData, fact func(string) any) (string, error) {
	if !strings.Contains(source, "{{") {
		return source, nil
	}
	trees, err := parseText(source)
	if err != nil {
		return "", err
	}
	f := filler{fact: fact, vars: []variable{{"$", data}}}
	if err := f.fill(trees["text"].Root, data); err != nil {
		return "", err
	}
	return f.out.String(), nil
}

// limitedBuilder stops a text that grows without end.
type limitedBuilder struct{ strings.Builder }

// Write implements io.Writer.
func (b *limitedBuilder) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxRendered {
		return 0, errors.New("the text is too long")
	}
	return b.Builder.Write(p)
}

// scope is what a template may refer to.
type scope struct {
	top    []string // fields of the dot
	values []string // names below .V; nil if there is no .V
}

// templateLine finds the line in an error of the template parser.
var templateLine = regexp.MustCompile(`^template: text:(\d+):(?:\d+:)? ?`)

// template reads a text and checks that it can be rendered.
func (r *reader) template(n *yaml.Node, names scope) string {
	s := r.text(n)
	if s == "" {
		return ""
	}
	trees, err := parseText(s)
	if err != nil {
		r.templateError(n, err)
		return ""
	}
	if len(trees) > 1 {
		r.fail(n, "a text must not define templates")
		return ""
	}
	c := &checker{reader: r, node: n, names: names}
	c.walk(trees["text"].Root)
	return s
}

// templateError places an error of the template parser, which knows the line.
func (r *reader) templateError(n *yaml.Node, err error) {
	message, row := err.Error(), 0
	if m := templateLine.FindStringSubmatch(message); m != nil {
		row, _ = strconv.Atoi(m[1])
		row--
		message = message[len(m[0]):]
	}
	offset := 0
	for range row {
		next := strings.IndexByte(n.Value[offset:], '\n')
		if next < 0 {
			break
		}
		offset += next + 1
	}
	// The parser does not say which column: the first action on the line.
	if i := strings.Index(n.Value[offset:], "{{"); i >= 0 && !strings.Contains(n.Value[offset:offset+i], "\n") {
		offset += i
	}
	line, column := r.place(n, offset)
	r.failAt(line, column, "%s", message)
}

// checker walks a template and notes what it may not contain.
type checker struct {
	*reader
	node  *yaml.Node
	names scope
	inner int // inside `with`, where the dot is something else
}

func (c *checker) note(pos parse.Pos, format string, args ...any) {
	line, column := c.place(c.node, int(pos))
	c.failAt(line, column, format, args...)
}

func (c *checker) walk(n parse.Node) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n == nil {
			return
		}
		for _, e := range n.Nodes {
			c.walk(e)
		}
	case *parse.ActionNode:
		c.walk(n.Pipe)
	case *parse.IfNode:
		c.branch(&n.BranchNode)
	case *parse.WithNode:
		c.walk(n.Pipe)
		c.inner++
		c.walk(n.List)
		c.inner--
		c.walk(n.ElseList)
	case *parse.PipeNode:
		for _, cmd := range n.Cmds {
			for _, arg := range cmd.Args {
				c.walk(arg)
			}
		}
	case *parse.ChainNode:
		c.walk(n.Node)
	case *parse.IdentifierNode:
		if !slices.Contains(textFuncs(), n.Ident) {
			c.note(n.Pos, "function %q is not for texts", n.Ident)
		}
	case *parse.FieldNode:
		if c.inner == 0 {
			c.field(n.Pos, n.Ident)
		}
	case *parse.VariableNode:
		if n.Ident[0] == "$" && len(n.Ident) > 1 {
			c.field(n.Pos, n.Ident[1:])
		}
	case *parse.RangeNode, *parse.TemplateNode:
		c.note(n.Position(), "loops and templates are not for texts")
	}
}

func (c *checker) branch(n *parse.BranchNode) {
	c.walk(n.Pipe)
	c.walk(n.List)
	c.walk(n.ElseList)
}

// field checks a reference like .V.name.
func (c *checker) field(pos parse.Pos, ident []string) {
	switch {
	case !slices.Contains(c.names.top, ident[0]):
		c.note(pos, "there is no .%s here: want .%s", ident[0], strings.Join(c.names.top, " or ."))
	case ident[0] == "V" && len(ident) > 1 && !slices.Contains(c.names.values, ident[1]):
		c.note(pos, "there is no value %q under `values`", ident[1])
	}
}
