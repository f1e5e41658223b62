package snapshot

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// tree gives a part of a snapshot as JSON that can be walked.
func tree(p part) (any, error) {
	data, err := marshal(p.into)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	var v any
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	return v, nil
}

// copyJSON copies all that is JSON, with every text in it replaced.
func (r *redactor) copyJSON(s, into *Snapshot) error {
	to := into.parts()
	for i, p := range s.parts() {
		v, err := tree(p)
		if err != nil {
			return err
		}
		data, err := marshal(r.value("", v))
		if err != nil {
			return err
		}
		if err := json.Unmarshal(data, to[i].into); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// plain are the fields of a snapshot whose values are words of this program's
// own, times and ids: a topic that has such a name must not change them.
var plain = map[string]bool{
	"signature": true, "layer": true, "severity": true, "confidence": true, "role": true, "state": true, "kind": true, "unit": true,
	"started": true, "ended": true, "from": true, "to": true, "since": true, "at": true, "created": true, "by": true, "rules": true, "stallmark": true,
	"explains": true, "provides": true, "parent": true,
}

// value replaces every text in a JSON value that stands under a key.
func (r *redactor) value(key string, v any) any {
	switch x := v.(type) {
	case string:
		return r.under(key, x)
	case []any:
		for i := range x {
			x[i] = r.value(key, x[i])
		}
	case map[string]any:
		if key == "attrs" || key == "subject" {
			return r.pairs(x, false)
		}
		if fact, ok := x["key"].(string); ok && x["value"] != nil {
			return r.fact(x, fact)
		}
		setting := x["kind"] == "setting"
		for _, k := range sorted(x) {
			if attrs, ok := x[k].(map[string]any); ok && k == "attrs" {
				x[k] = r.pairs(attrs, setting)
				continue
			}
			x[k] = r.value(k, x[k])
		}
	}
	return v
}

// under replaces a text by what its key says that it is.
func (r *redactor) under(key, text string) string {
	switch {
	case key == "id" || key == "root" || key == "finding" || key == "findings":
		if id, ok := r.ids[text]; ok {
			return id
		}
		return text
	case plain[key]:
		return text
	case key == "expr" || key == "limit" || key == "devices":
		return r.expression(text)
	case key == "host":
		return r.labelled("host", text, false)
	}
	return r.text(text)
}

// pairs replaces attributes: their values, and their names where those are texts
// of the host.
func (r *redactor) pairs(m map[string]any, setting bool) map[string]any {
	out := make(map[string]any, len(m))
	for _, k := range sorted(m) {
		text, _ := m[k].(string)
		name := k
		if named[strings.ToLower(k)] == "" && !closed[k] {
			name = r.text(k)
		}
		out[name] = r.labelled(k, text, setting)
	}
	return out
}

// fact replaces the value of a fact, and what its key has from the host.
func (r *redactor) fact(m map[string]any, key string) map[string]any {
	value, _ := m["value"].(string)
	m["key"] = r.text(key)
	if kind := factKind(key); kind != "" {
		m["value"] = r.labelled(kind, value, false)
	} else {
		m["value"] = r.text(value)
	}
	return m
}

var (
	matcher    = regexp.MustCompile(`([a-zA-Z_]\w*)(\s*(?:=~|!~|!=|=)\s*)"((?:[^"\\]|\\.)*)"`)
	quotedText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
)

// expression replaces the values of labels in a query, as the labels of the
// series that it gave are replaced.
func (r *redactor) expression(expr string) string {
	marks := matcher.FindAllStringSubmatchIndex(expr, -1)
	var b strings.Builder
	done := 0
	for _, m := range marks {
		name, op, value := expr[m[2]:m[3]], strings.TrimSpace(expr[m[4]:m[5]]), expr[m[6]:m[7]]
		b.WriteString(r.strings(expr[done : m[6]-1]))
		if exact := op == "=" || op == "!="; exact {
			value = r.labelled(name, value, false)
		} else if !closed[name] {
			value = r.alternatives(name, value)
		}
		b.WriteString(`"` + value + `"`)
		done = m[7] + 1
	}
	return b.String() + r.strings(expr[done:])
}

// alternatives replaces the values of a regular expression that lists some.
func (r *redactor) alternatives(name, value string) string {
	list := strings.Split(value, "|")
	for i, one := range list {
		if strings.ContainsAny(one, `.*+?()[]{}^$\`) {
			list[i] = r.text(one)
			continue
		}
		list[i] = r.labelled(name, one, false)
	}
	return strings.Join(list, "|")
}

// strings replaces the texts in quotes that are no label's value.
func (r *redactor) strings(expr string) string {
	return quotedText.ReplaceAllStringFunc(expr, func(m string) string { return `"` + r.text(m[1:len(m)-1]) + `"` })
}

// textsOf are the texts of a snapshot in which names are looked for.
func textsOf(s *Snapshot) ([]string, error) {
	var out []string
	var walk func(any)
	walk = func(v any) {
		switch x := v.(type) {
		case string:
			out = append(out, x)
		case []any:
			for _, one := range x {
				walk(one)
			}
		case map[string]any:
			for _, k := range sorted(x) {
				walk(x[k])
			}
		}
	}
	for _, p := range s.parts() {
		if p.name == "signatures.json" {
			continue // of the rule pack
		}
		v, err := tree(p)
		if err != nil {
			return nil, err
		}
		walk(v)
	}
	return out, nil
}
