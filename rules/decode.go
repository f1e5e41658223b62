package rules

import (
	"regexp"
	"time"

	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"

	"stallmark/storage/model"
)

// Bounds of the times in a file.
const (
	maxWait         = time.Hour
	maxLookback     = 10 * time.Minute
	defaultLookback = 15 * time.Second
)

var validID = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// decode reads one signature. The result is of use only if the reader has noted
// no mistake.
func (r *reader) decode(n *yaml.Node) *Signature {
	s := &Signature{File: r.file, Lookback: defaultLookback}
	r.letNames(n)
	vector := parser.ValueTypeVector
	r.mapping(n, map[string]func(*yaml.Node){
		"id": func(n *yaml.Node) { s.ID = r.id(n) },
		"title": func(n *yaml.Node) {
			s.Title = r.text(n)
		},
		"layer": func(n *yaml.Node) {
			s.Layer = model.Layer(r.word(n, string(model.LayerCause), string(model.LayerMechanism), string(model.LayerSymptom)))
		},
		"severity": func(n *yaml.Node) {
			s.Severity = model.Severity(r.word(n,
				string(model.SeverityCritical), string(model.SeverityWarning), string(model.SeverityInfo)))
		},
		"needs": func(n *yaml.Node) {
			r.list(n, func(n *yaml.Node) { s.addNeed(r.limitedNeed(n)) })
		},
		"let":     func(*yaml.Node) {}, // read before all else
		"applies": func(n *yaml.Node) { s.Applies = r.applies(n) },
		"baselines": func(n *yaml.Node) {
			r.list(n, func(n *yaml.Node) { s.Baselines = append(s.Baselines, r.baseline(n)) })
		},
		"when":            func(n *yaml.Node) { s.When = r.promql(n, vector) },
		"extent":          func(n *yaml.Node) { s.Extent = r.promql(n, vector) },
		"lookback":        func(n *yaml.Node) { s.Lookback = r.duration(n, 0, maxLookback) },
		"for":             func(n *yaml.Node) { s.For = r.duration(n, 0, maxWait) },
		"keep_firing_for": func(n *yaml.Node) { s.KeepFiringFor = r.duration(n, 0, maxWait) },
		"evidence": func(n *yaml.Node) {
			r.list(n, func(n *yaml.Node) { s.Evidence = append(s.Evidence, r.evidence(n)) })
		},
		"explains":     func(n *yaml.Node) { r.explains(n, s) },
		"independent":  func(n *yaml.Node) { s.Independent = r.promql(n, vector) },
		"quiet":        func(n *yaml.Node) { s.Quiet = r.quiet(n) },
		"differential": func(n *yaml.Node) { s.Differential = r.ids(n) },
		"what":         func(n *yaml.Node) { s.What = r.text(n) },
		"remedy": func(n *yaml.Node) {
			r.list(n, func(n *yaml.Node) { s.Remedy = append(s.Remedy, r.remedy(n)) })
		},
		"references": func(n *yaml.Node) { s.References = r.texts(n) },
		"proven":     func(n *yaml.Node) { s.Proven = r.proof(n) },
		"tests": func(n *yaml.Node) {
			r.list(n, func(n *yaml.Node) { s.Tests = append(s.Tests, r.test(n)) })
		},
	})
	r.require(n, "id", "title", "layer", "severity", "needs", "when", "what")
	return s
}

// require notes the keys that a mapping lacks.
func (r *reader) require(n *yaml.Node, keys ...string) {
	if n.Kind != yaml.MappingNode {
		return
	}
	have := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		have[n.Content[i].Value] = true
	}
	for _, k := range keys {
		if !have[k] {
			r.fail(n, "key %q is missing", k)
		}
	}
}

func (r *reader) id(n *yaml.Node) string {
	s := r.text(n)
	if s != "" && !validID.MatchString(s) {
		r.fail(n, "%q: want an id of lower-case letters, digits and single hyphens", s)
		return ""
	}
	return s
}

func (r *reader) ids(n *yaml.Node) []string {
	var out []string
	r.list(n, func(n *yaml.Node) { out = append(out, r.id(n)) })
	return out
}

// explains reads ids, or mappings of an id and the condition on which it holds.
func (r *reader) explains(n *yaml.Node, s *Signature) {
	s.While = map[string]string{}
	r.list(n, func(n *yaml.Node) {
		if n.Kind != yaml.MappingNode {
			s.Explains = append(s.Explains, r.id(n))
			return
		}
		id, while := "", ""
		r.mapping(n, map[string]func(*yaml.Node){
			"id":    func(n *yaml.Node) { id = r.id(n) },
			"while": func(n *yaml.Node) { while = r.promql(n, parser.ValueTypeVector) },
		})
		r.require(n, "id", "while")
		s.Explains, s.While[id] = append(s.Explains, id), while
	})
}

func (r *reader) evidence(n *yaml.Node) EvidenceRule {
	e := EvidenceRule{Op: Above}
	var before, after time.Duration
	r.mapping(n, map[string]func(*yaml.Node){
		"title":     func(n *yaml.Node) { e.Title = r.text(n) },
		"expr":      func(n *yaml.Node) { e.Expr = r.promql(n) },
		"unit":      func(n *yaml.Node) { e.Unit = r.word(n, units()...) },
		"threshold": func(n *yaml.Node) { e.Threshold = r.threshold(n) },
		"op":        func(n *yaml.Node) { e.Op = r.op(n) },
		"role": func(n *yaml.Node) {
			e.Role = model.Role(r.word(n, string(model.RoleWitness), string(model.RoleConfirms),
				string(model.RoleContradicts), string(model.RoleContext)))
		},
		"wait":   func(n *yaml.Node) { r.list(n, func(n *yaml.Node) { e.Wait = append(e.Wait, r.wait(n)) }) },
		"lines":  func(n *yaml.Node) { r.telling(n, &e, model.EventLog, "pattern") },
		"pauses": func(n *yaml.Node) { r.telling(n, &e, model.EventPause, "class") },
		"stalls": func(n *yaml.Node) { r.telling(n, &e, model.EventStall, "kind") },
		"before": func(n *yaml.Node) { before = r.duration(n, 0, maxLookback) },
		"after":  func(n *yaml.Node) { after = r.duration(n, 0, maxAfter) },
	})
	r.require(n, "title", "role")
	if e.Told != nil {
		e.Told.Before, e.Told.After = before, after
	} else if before > 0 || after > 0 {
		r.fail(n, "only evidence with lines, pauses or stalls has `before` or `after`")
	}
	return r.checkEvidence(n, e)
}

// checkEvidence notes what does not fit together, and fills in what a witness
// leaves out.
func (r *reader) checkEvidence(n *yaml.Node, e EvidenceRule) EvidenceRule {
	if len(e.Wait) > 0 && e.Role != model.RoleWitness {
		r.fail(n, "only a witness has `wait`")
	}
	if e.Role == model.RoleWitness && e.Expr == "" && len(e.Wait) > 0 {
		e.Expr, e.Unit = waitExpr(e.Wait), "count"
	}
	if e.Told != nil && e.Told.Kind == model.EventLog && e.Expr == "" && !hasKey(n, "expr") {
		e.Expr, e.Unit, e.Told.Counted = linesExpr(e.Told.Values), "count", true
	}
	if e.Expr == "" && n.Kind == yaml.MappingNode && !hasKey(n, "expr") {
		r.fail(n, "key \"expr\" is missing")
	}
	if e.Role == model.RoleWitness && !e.Threshold.Set() {
		zero := 0.0
		e.Threshold = Threshold{Number: &zero}
	}
	judged := e.Role == model.RoleConfirms || e.Role == model.RoleContradicts
	if judged && !e.Threshold.Set() && !hasKey(n, "threshold") {
		r.fail(n, "evidence that %s needs a threshold", e.Role)
	}
	return e
}

func hasKey(n *yaml.Node, key string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return true
		}
	}
	return false
}

// threshold is a number or an expression.
func (r *reader) threshold(n *yaml.Node) Threshold {
	var v float64
	if n.Kind == yaml.ScalarNode && (n.Tag == "!!int" || n.Tag == "!!float") && n.Decode(&v) == nil {
		if !finite(v) {
			r.fail(n, "%s: want a finite number", n.Value)
		}
		return Threshold{Number: &v}
	}
	return Threshold{Expr: r.promql(n)}
}

func (r *reader) op(n *yaml.Node) Op {
	return Op(r.word(n, string(Above), string(Below), string(AboveOrEqual), string(BelowOrEqual)))
}

func (r *reader) quiet(n *yaml.Node) *Quiet {
	q := &Quiet{Op: Above}
	r.mapping(n, map[string]func(*yaml.Node){
		"expr": func(n *yaml.Node) { q.Expr = r.promql(n) },
		"unit": func(n *yaml.Node) { q.Unit = r.word(n, units()...) },
		"text": func(n *yaml.Node) { q.Text = r.template(n, scope{top: []string{"Value", "Labels"}}) },
		"op":   func(n *yaml.Node) { q.Op = r.op(n) },
	})
	r.require(n, "expr", "text")
	return q
}

func (r *reader) remedy(n *yaml.Node) RemedyRule {
	m := RemedyRule{Values: map[string]string{}}
	names := scope{top: []string{"V", "Subject"}, values: r.valueNames(n)}
	text := func(into *string) func(*yaml.Node) {
		return func(n *yaml.Node) { *into = r.template(n, names) }
	}
	r.mapping(n, map[string]func(*yaml.Node){
		"title": func(n *yaml.Node) { m.Title = r.text(n) },
		"kind": func(n *yaml.Node) {
			m.Kind = model.RemedyKind(r.word(n, string(model.RemedyNow), string(model.RemedyLater), string(model.RemedyAccept)))
		},
		"why":  text(&m.Why),
		"when": func(n *yaml.Node) { m.When = r.promql(n) },
		"values": func(n *yaml.Node) {
			r.pairs(n, func(key, value *yaml.Node) { m.Values[key.Value] = r.promql(value) })
		},
		"current":  text(&m.Current),
		"apply":    text(&m.Apply),
		"persist":  text(&m.Persist),
		"rollback": text(&m.Rollback),
		"verify":   text(&m.Verify),
		"risk":     text(&m.Risk),
	})
	r.require(n, "title", "kind")
	return m
}

// valueNames are the keys of a remedy's `values`, which its templates may use.
func (r *reader) valueNames(n *yaml.Node) []string {
	names := []string{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if v := n.Content[i+1]; n.Content[i].Value == "values" && v.Kind == yaml.MappingNode {
			for j := 0; j < len(v.Content); j += 2 {
				names = append(names, v.Content[j].Value)
			}
		}
	}
	return names
}

// noteRefs remembers where the file names other signatures.
func (s *Signature) noteRefs(n *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i].Value
		if key != "explains" && key != "differential" {
			continue
		}
		for _, e := range n.Content[i+1].Content {
			for j := 0; j+1 < len(e.Content); j += 2 { // an id with its condition
				if e.Content[j].Value == "id" {
					e = e.Content[j+1]
				}
			}
			s.refs = append(s.refs, reference{key, e.Value, e.Line, e.Column})
		}
	}
}

// keyPlace is where the value of a key stands.
func keyPlace(n *yaml.Node, key string) (line, column int) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1].Line, n.Content[i+1].Column
		}
	}
	return n.Line, n.Column
}
