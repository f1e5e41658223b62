package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

// row is one cell of the table: what was provoked under which broker, and what was said.
type row struct {
	Broker   string   `json:"broker"`
	Case     string   `json:"case"`
	Provoked string   `json:"provoked"`
	Cause    string   `json:"cause"`    // the cause that was said
	Symptoms []string `json:"symptoms"` // said in the same incident
	Apart    []string `json:"apart"`    // symptoms said in another
	Seconds  float64  `json:"seconds"`  // from the beginning to the cause, as the page said it
	Felt     string   `json:"felt"`     // by the client
	Wrong    []string `json:"wrong"`
}

// table prints what was said.
func table(w io.Writer, rows []row) {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "broker\tcase\tcause\tafter\tin the same incident\tthe client felt\t")
	for _, r := range rows {
		after := ""
		if r.Cause != "" && r.Seconds > 0 {
			after = fmt.Sprintf("%.0f s", r.Seconds)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Broker, r.Case, r.Cause, after, strings.Join(r.Symptoms, ", "), r.Felt, verdict(r))
	}
	t.Flush()
}

func verdict(r row) string {
	if len(r.Wrong) == 0 {
		return "right"
	}
	return "WRONG: " + strings.Join(r.Wrong, "; ")
}

func wrong(rows []row) (n int) {
	for _, r := range rows {
		if len(r.Wrong) > 0 {
			n++
		}
	}
	return n
}

// keep writes rows, or an answer of the recorder, as JSON.
func keep(path string, answer any) error {
	text, err := json.MarshalIndent(answer, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
