package rules

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"
)

// limitedNeed reads a need: a name, or a mapping that says which kernels lack
// it.
func (r *reader) limitedNeed(n *yaml.Node) (string, NeedLimit) {
	if n.Kind != yaml.MappingNode {
		return r.need(n), NeedLimit{}
	}
	var name string
	var limit NeedLimit
	r.mapping(n, map[string]func(*yaml.Node){
		"metric": func(n *yaml.Node) { name = r.need(n) },
		"since":  func(n *yaml.Node) { limit.Since = r.kernelVersion(n) },
		"else":   func(n *yaml.Node) { limit.Else = r.text(n) },
	})
	r.require(n, "metric", "since")
	return name, limit
}

func (s *Signature) addNeed(name string, limit NeedLimit) {
	s.Needs = append(s.Needs, name)
	if limit.Since == "" {
		return
	}
	if s.Limits == nil {
		s.Limits = map[string]NeedLimit{}
	}
	s.Limits[name] = limit
}

func (r *reader) kernelVersion(n *yaml.Node) string {
	s := r.text(n)
	if _, ok := kernelVersion(s); s != "" && !ok {
		r.fail(n, "%q: want a version of Linux like 4.13, in quotes", s)
		return ""
	}
	return s
}

func (r *reader) applies(n *yaml.Node) *Applies {
	a := &Applies{}
	r.mapping(n, map[string]func(*yaml.Node){
		"expr": func(n *yaml.Node) { a.Expr = r.promql(n, parser.ValueTypeVector) },
		"none": func(n *yaml.Node) { a.None = r.text(n) },
	})
	r.require(n, "expr", "none")
	return a
}

// kernelVersion is the first two numbers of a version of Linux.
func kernelVersion(s string) (v [2]int, ok bool) {
	parts := strings.FieldsFunc(s, func(c rune) bool { return c < '0' || c > '9' })
	if len(parts) < 2 || s[0] < '0' || s[0] > '9' {
		return v, false
	}
	for i := range v {
		n, err := strconv.Atoi(parts[i])
		if err != nil {
			return v, false
		}
		v[i] = n
	}
	return v, true
}

// tooOld says that the host's kernel is older than a need, or nothing.
func (l NeedLimit) tooOld(need string, kernel any) string {
	text, _ := kernel.(string)
	have, known := kernelVersion(text)
	since, limited := kernelVersion(l.Since)
	if !known || !limited || have[0] > since[0] || have[0] == since[0] && have[1] >= since[1] {
		return ""
	}
	return fmt.Sprintf("this kernel (%d.%d) has no %s: Linux has it since %s", have[0], have[1], need, l.Since)
}
