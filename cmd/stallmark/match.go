package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"stallmark/collectors/logs/match"
	"stallmark/rules"
	"stallmark/rules/patterns"
	"stallmark/storage/model"
)

const matchHelp = `
match   prints every line of the FILEs (.gz and .zst too; - is the standard
        input) that a log pattern recognises, with the time that it is about
        in UTC, its fields and what it proves, then the warnings and errors
        that none recognises, by how often their like occurs. Lines of the
        kernel that count from its boot have a time with --boot. For whoever
        writes patterns. Exit codes: 0 nothing that points at a fault, 1 lines
        that do, 2 usage or unreadable input.`

// runMatch is "rules match".
func runMatch(_ context.Context, p *program, o *options, files []string) (int, error) {
	if len(files) == 0 {
		return exitUsage, usagef("rules match: name files, or - for the standard input")
	}
	known, err := readTold(o)
	if err != nil {
		return exitUsage, err
	}
	set := p.loadPatterns(o.rules)
	var out matchOutput = &matchText{w: bufio.NewWriter(p.stdout)}
	if o.json {
		out = newMatchJSON(p)
	}
	m := &matcher{p: p, set: set, told: known, out: out, shapes: newShapeTable(), nearby: map[string]nearbyZone{}}
	m.lookNearby(files)
	var failures []error
	for _, file := range files {
		if err := m.file(file); err != nil {
			failures = append(failures, err)
		}
	}
	if err := out.end(m.shapes.ranked(), m.counts); err != nil {
		return exitUsage, err
	}
	switch {
	case len(failures) > 0:
		return exitUsage, errors.Join(failures...)
	case m.faults:
		return exitFound, nil
	}
	return exitOK, nil
}

// loadPatterns makes the built-in patterns and those of the user ready; a mistake
// in a user's file is said and stops nothing.
func (p *program) loadPatterns(dirs []string) *match.Set {
	pack, problems := patterns.Load(dirs...)
	for _, problem := range rules.Mistakes(problems) {
		fmt.Fprintf(p.stderr, "stallmark: rules: %s\n", oneLine(problem.String()))
	}
	set, err := match.New(pack.Patterns)
	if err != nil {
		fmt.Fprintf(p.stderr, "stallmark: rules: %s\n", oneLine(err.Error()))
	}
	return set
}

// checkPatterns reads the patterns and tries their samples. It gives how many
// patterns and samples there are.
func checkPatterns(dirs []string) (pack *patterns.Pack, problems []rules.Problem) {
	pack, problems = patterns.Load(dirs...)
	set, err := match.New(pack.Patterns)
	if err != nil {
		problems = append(problems, rules.Problem{File: "patterns", Message: err.Error()})
	}
	var hit match.Hit
	return pack, append(problems, pack.CheckSamples(func(line string) (string, map[string]string) {
		if !set.Match([]byte(line), &hit) {
			return "", nil
		}
		return hit.Pattern.ID, fieldTexts(&hit)
	})...)
}

func fieldTexts(hit *match.Hit) map[string]string {
	texts := map[string]string{}
	for _, f := range hit.Fields {
		texts[f.Name] = string(f.Text)
	}
	return texts
}

// pointsAtFault reports whether a pattern is about something that is wrong.
func pointsAtFault(p *model.LogPattern) bool {
	return p.Proof == model.ProofDirect || p.Proof == model.ProofHint
}
