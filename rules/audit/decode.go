package audit

import (
	"errors"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"stallmark/rules"
)

// parseFile reads one file of checks. They are of use only if there is no
// problem.
func parseFile(file string, data []byte) ([]*check, []rules.Problem) {
	f, n := rules.ParseYAML(file, data)
	if n == nil {
		return nil, f.Problems()
	}
	var checks []*check
	f.List(n, func(n *yaml.Node) {
		d := &decoder{YAMLFile: f, check: &check{file: file, reads: map[string]read{}, values: map[string]*expression{}}}
		d.decode(n)
		if slices.ContainsFunc(checks, func(c *check) bool { return c.id == d.check.id }) {
			f.Fail(n, "id %q is there twice", d.check.id)
		}
		checks = append(checks, d.check)
	})
	return checks, f.Problems()
}

// decoder reads one check.
type decoder struct {
	*rules.YAMLFile
	check *check
	names []string // what expressions and texts may refer to, so far
}

var validName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// decode goes through the keys in two rounds: what names things, and what uses
// the names.
func (d *decoder) decode(n *yaml.Node) {
	c := d.check
	var later []func()
	var verdicts *yaml.Node
	text := func(into *string) func(*yaml.Node) {
		return func(n *yaml.Node) { later = append(later, func() { *into = d.template(n) }) }
	}
	use := func(do func(*yaml.Node)) func(*yaml.Node) {
		return func(n *yaml.Node) { later = append(later, func() { do(n) }) }
	}
	d.Mapping(n, map[string]func(*yaml.Node){
		"id":    func(n *yaml.Node) { c.id = d.ID(n) },
		"title": func(n *yaml.Node) { c.title = d.Text(n) },
		"area": func(n *yaml.Node) {
			c.area = Area(d.Word(n, string(Kernel), string(RocketMQ), string(Kafka), string(JVM)))
		},
		"each":     func(n *yaml.Node) { c.each = d.PromQL(n) },
		"none":     func(n *yaml.Node) { c.none = d.Text(n) },
		"source":   func(n *yaml.Node) { c.source = d.Text(n) },
		"absent":   func(n *yaml.Node) { c.absent = d.Text(n) },
		"reads":    func(n *yaml.Node) { d.Pairs(n, d.read) },
		"values":   use(func(n *yaml.Node) { d.Pairs(n, d.value) }),
		"applies":  use(func(n *yaml.Node) { c.applies = d.expression(n) }),
		"current":  text(&c.current),
		"why":      text(&c.why),
		"change":   text(&c.advice.Change),
		"command":  text(&c.advice.Command),
		"persist":  text(&c.advice.Persist),
		"rollback": text(&c.advice.Rollback),
		"risk":     text(&c.advice.Risk),
		"verdicts": func(n *yaml.Node) { verdicts = n },
	})
	for _, do := range later {
		do()
	}
	if verdicts != nil {
		d.List(verdicts, d.verdict)
	}
	d.Require(n, "id", "title", "area", "reads", "why", "source", "current", "verdicts")
	if c.each != "" && c.none == "" {
		d.Fail(n, "a check with `each` needs `none`: what to say when there is nothing to check")
	}
	if c.applies != nil && c.absent == "" {
		d.Fail(n, "a check with `applies` needs `absent`: what to say when it does not apply")
	}
	if last := len(c.verdicts) - 1; last >= 0 && c.verdicts[last].when != nil {
		d.Fail(n, "the last verdict must have no `when`: it is for everything else")
	}
}

// name takes a new name into use.
func (d *decoder) name(n *yaml.Node) {
	_, constant := constantOf(n.Value)
	switch {
	case !validName.MatchString(n.Value):
		d.Fail(n, "%q: want a name of lower-case letters, digits and _", n.Value)
	case slices.Contains(d.names, n.Value) || constant:
		d.Fail(n, "the name %q is taken", n.Value)
	}
	d.names = append(d.names, n.Value)
}

// read is a fact's key alone, or a mapping.
func (d *decoder) read(key, n *yaml.Node) {
	d.name(key)
	var r read
	if n.Kind == yaml.ScalarNode {
		r.fact = d.Text(n)
		d.check.reads[key.Value] = r
		return
	}
	d.Mapping(n, map[string]func(*yaml.Node){
		"fact":     func(n *yaml.Node) { r.fact = d.Text(n) },
		"query":    func(n *yaml.Node) { r.query = d.PromQL(n) },
		"default":  func(n *yaml.Node) { r.fallback = d.Text(n) },
		"since":    func(n *yaml.Node) { d.Pairs(n, func(k, v *yaml.Node) { r.since = append(r.since, d.since(k, v)) }) },
		"optional": func(n *yaml.Node) { r.optional = d.Word(n, "true", "false") == "true" },
	})
	if (r.fact == "") == (r.query == "") {
		d.Fail(n, "want either `fact` or `query`")
	}
	if len(r.since) > 0 && r.fallback == "" {
		d.Fail(n, "`since` needs `default`: what holds before")
	}
	slices.SortStableFunc(r.since, func(a, b sinceVersion) int {
		c, _ := compareVersions(a.version, b.version) // checked when read
		return c
	})
	d.check.reads[key.Value] = r
}

func (d *decoder) since(key, n *yaml.Node) sinceVersion {
	if _, err := versionParts(key.Value); err != nil {
		d.Fail(key, "%v", err)
		return sinceVersion{}
	}
	return sinceVersion{key.Value, d.Text(n)}
}

func (d *decoder) value(key, n *yaml.Node) {
	e := d.expression(n)
	d.name(key)
	d.check.values[key.Value] = e
}

// expression reads a condition or a computed value.
func (d *decoder) expression(n *yaml.Node) *expression {
	text := d.Text(n)
	if text == "" {
		return nil
	}
	e, err := parseExpression(text, d.names)
	if m, ok := errors.AsType[mistake](err); ok {
		d.FailInside(n, m.offset, "%s", m.text)
	}
	return e
}

// template reads a text. A # after a plain one would silently end it.
func (d *decoder) template(n *yaml.Node) string {
	if n.LineComment != "" && n.Style == 0 {
		d.Fail(n, "the text ends at the comment %.40q: quote the text", n.LineComment)
	}
	return d.Template(n, d.names)
}

func (d *decoder) verdict(n *yaml.Node) {
	var v verdict
	var a Advice
	text := func(into *string) func(*yaml.Node) {
		return func(n *yaml.Node) { *into = d.template(n) }
	}
	d.Mapping(n, map[string]func(*yaml.Node){
		"when": func(n *yaml.Node) { v.when = d.expression(n) },
		"state": func(n *yaml.Node) {
			v.state = State(d.Word(n, string(OK), string(Advise), string(Warn), string(Absent)))
		},
		"says":     text(&v.says),
		"why":      text(&v.why),
		"change":   text(&a.Change),
		"command":  text(&a.Command),
		"persist":  text(&a.Persist),
		"rollback": text(&a.Rollback),
		"risk":     text(&a.Risk),
	})
	d.Require(n, "state", "says")
	switch v.state {
	case Advise, Warn:
		v.advice = d.inherit(n, a)
	case OK, Absent:
		if a != (Advice{}) {
			d.Fail(n, "a verdict that is %s has nothing to change", v.state)
		}
	}
	d.check.verdicts = append(d.check.verdicts, v)
}

// inherit completes a verdict's advice with the check's.
func (d *decoder) inherit(n *yaml.Node, own Advice) *Advice {
	all := d.check.advice
	for _, part := range []struct {
		name string
		own  string
		into *string
	}{
		{"change", own.Change, &all.Change},
		{"command", own.Command, &all.Command},
		{"persist", own.Persist, &all.Persist},
		{"rollback", own.Rollback, &all.Rollback},
		{"risk", own.Risk, &all.Risk},
	} {
		if part.own != "" {
			*part.into = part.own
		}
		if *part.into == "" {
			d.Fail(n, "advice needs %q, here or in the check", part.name)
		}
	}
	return &all
}
