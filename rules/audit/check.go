package audit

import (
	"go/ast"
)

// Area says whose settings a check is about.
type Area string

// The areas, in the order in which they are shown.
const (
	Kernel   Area = "kernel"
	RocketMQ Area = "rocketmq"
	Kafka    Area = "kafka"
	JVM      Area = "jvm"
)

// Title is how an area is written for people.
func (a Area) Title() string {
	switch a {
	case Kernel:
		return "Kernel"
	case RocketMQ:
		return "RocketMQ"
	case Kafka:
		return "Kafka"
	case JVM:
		return "JVM"
	}
	return string(a)
}

// Areas lists the areas in order.
func Areas() []Area { return []Area{Kernel, RocketMQ, Kafka, JVM} }

// State is what a check has come to.
type State string

// The states.
const (
	OK      State = "ok"
	Advise  State = "advise"  // it works, but there is better
	Warn    State = "warn"    // it makes stalls, loses data or contradicts itself
	Unknown State = "unknown" // what it judges could not be read
	Absent  State = "absent"  // this host does not have what it judges
)

// States lists the states, the most pressing first.
func States() []State { return []State{Warn, Advise, Unknown, OK, Absent} }

// Result is the outcome of one check for one subject. Texts may hold names and
// values from the host, which are hostile.
type Result struct {
	ID      string            `json:"id"`
	Title   string            `json:"title"`
	Area    Area              `json:"area"`
	State   State             `json:"state"`
	Subject map[string]string `json:"subject"`           // device, or process and pid; empty for the host
	Current string            `json:"current,omitempty"` // the present setting, in words
	Says    string            `json:"says"`              // the judgement, or why there is none
	Mend    string            `json:"mend,omitempty"`    // what would make an unknown known
	Advice  *Advice           `json:"advice,omitempty"`  // nil unless the state is advise or warn
	Why     string            `json:"why,omitempty"`
	Source  string            `json:"source,omitempty"` // where the knowledge is from
}

// Advice is a change, with its values computed for this host. It is for
// somebody to read and run: nothing here runs it.
type Advice struct {
	Change   string `json:"change"`
	Command  string `json:"command"`
	Persist  string `json:"persist"`
	Rollback string `json:"rollback"`
	Risk     string `json:"risk"`
}

// check is one entry of a file.
type check struct {
	id, title   string
	area        Area
	each        string // PromQL that gives the subjects; empty for the host
	none        string // said when there is no subject
	reads       map[string]read
	values      map[string]*expression
	applies     *expression // nil: always
	absent      string      // said when it does not apply
	current     string
	why, source string
	advice      Advice // templates for all verdicts that do not have their own
	verdicts    []verdict
	file        string
}

// read is one input: a fact or a query.
type read struct {
	fact  string // key; {label} stands for a label of the subject
	query string // PromQL
	// fallback is the product's own default, where a key that is not set is not
	// unknown; since has other defaults from a version on.
	fallback string
	since    []sinceVersion // the oldest first
	optional bool           // one that cannot be read is like one that is not there
}

// sinceVersion is a default that holds from a version of the product on.
type sinceVersion struct{ version, value string }

// verdict is one possible outcome. Texts are templates.
type verdict struct {
	when   *expression // nil: otherwise
	state  State
	says   string
	why    string  // instead of the check's
	advice *Advice // of templates; nil if there is nothing to change
}

// expression is a condition or a computed value.
type expression struct {
	text string
	tree ast.Expr
}
