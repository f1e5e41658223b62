package main

import (
	"context"
	"encoding/json"
	"fmt"

	"stallmark/cmd/stalldrill/drill"
)

// listed is one mode as "list --json" prints it.
type listed struct {
	Mode     string   `json:"mode"`
	Summary  string   `json:"summary"`
	Truth    []string `json:"truth"`
	Also     []string `json:"also"`
	Possible bool     `json:"possible"`
	Why      string   `json:"why,omitempty"` // it is not possible here
}

// runList prints the modes.
func runList(_ context.Context, p *program, o *options, args []string) (int, error) {
	if len(args) > 0 {
		return exitUsage, fmt.Errorf("list takes no arguments")
	}
	memory, err := p.host.ReadMemory()
	if err != nil {
		return exitUsage, err
	}
	for _, m := range drill.Modes() {
		row := listed{Mode: m.Name, Summary: m.Summary, Truth: append([]string{}, m.Truth...), Also: append([]string{}, m.Also...), Possible: true}
		if err := drill.Possible(p.host, m, o.dir, o.limits(memory.Total)); err != nil {
			row.Possible, row.Why = false, err.Error()
		}
		if o.json {
			if err := json.NewEncoder(p.stdout).Encode(row); err != nil {
				return exitUsage, err
			}
			continue
		}
		fmt.Fprintf(p.stdout, "%-17s %s\n", row.Mode, row.Summary)
		if !row.Possible {
			fmt.Fprintf(p.stdout, "%-17s not here: %s\n", "", row.Why)
		}
	}
	return exitOK, nil
}
