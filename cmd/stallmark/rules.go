package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"stallmark/rules"
	"stallmark/rules/audit"
	"stallmark/rules/patterns"
)

func rulesCommand() command {
	return command{
		name:    "rules",
		args:    "list|check|test|export|match [DIR|FILE...]",
		summary: "List the signatures, check files of your own, run the tests in them, or try log patterns",
		help: `
list    prints every signature: layer, severity, what it is proven by, id
        and title; --json names the recordings and drills. With --cost what
        judging it costs the service on this host (--listen), in samples read a
        beat: the mean, the most, and the budget that files of your own have
check   reads the signatures, the audit checks in the folder "audit" beside
        them and the log patterns in the folder "patterns", tries the samples
        of the patterns, and prints each mistake as file:line:column
test    runs the tests inside the signature files
export  prints the conditions as alerts for Prometheus, Thanos, Mimir or
        VictoriaMetrics, their ranges widened to what is scraped (--scrape); what
        cannot be run there stands at the beginning, with the reason` + matchHelp + `
The DIRs, or the folders given with --rules, are read besides the built-in
signatures. Exit codes of list, check
and test: 0 all is well, 1 mistakes or failed tests, 2 usage.`,
		options: func(o *options) []option {
			o.scrape = defaultScrape
			return []option{
				{"json", "", "list, match: print JSON", (*toggle)(&o.json), true},
				{"zone", "ZONE", "match: zone of the time stamps, or NAME=ZONE for files of a name; may be repeated", (*list)(&o.zones), true},
				{"boot", "TIME", "match: when the host started, for lines of its kernel that count from then: 2026-01-02T03:04:05Z, or the seconds of btime in /proc/stat", text(&o.boot), true},
				{"scrape", "TIME", "export: the ruler's scrape interval", (*period)(&o.scrape), true},
				{"cost", "", "list: print what each signature costs the running service", (*toggle)(&o.cost), true},
			}
		},
		run: runRules,
	}
}

func runRules(ctx context.Context, p *program, o *options, args []string) (int, error) {
	if len(args) == 0 {
		return exitUsage, usagef("rules: say list, check, test or match")
	}
	if args[0] == "match" {
		return runMatch(ctx, p, o, args[1:])
	}
	dirs := append(append([]string{}, o.rules...), args[1:]...)
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err != nil {
			return exitUsage, usageError{err}
		} else if !info.IsDir() {
			return exitUsage, usagef("%s is not a folder; its folder is %s", dir, filepath.Dir(dir))
		}
	}
	pack, problems := rules.Load(dirs...)
	switch args[0] {
	case "list":
		if o.cost {
			return p.listCosts(ctx, o)
		}
		return p.listRules(o, pack)
	case "check":
		checks, more := audit.Load(dirs...)
		logs, mistakes := checkPatterns(dirs)
		return p.checkRules(pack, checks, logs, slices.Concat(problems, more, mistakes))
	case "test":
		return p.testRules(ctx, pack)
	case "export":
		return p.exportRules(o, pack, problems)
	}
	return exitUsage, usagef("rules: there is no %q; say list, check, test, export or match", args[0])
}

// listedRule is one row of "rules list --json".
type listedRule struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Layer    string `json:"layer"`
	Severity string `json:"severity"`
	File     string `json:"file"`
	BuiltIn  bool   `json:"built_in"`
	Proven   string `json:"proven,omitempty"`
}

func (p *program) listRules(o *options, pack *rules.Pack) (int, error) {
	rows := []listedRule{}
	for _, s := range pack.Signatures {
		rows = append(rows, listedRule{s.ID, s.Title, string(s.Layer), string(s.Severity), s.File, s.BuiltIn, s.Proven.String()})
	}
	if o.json {
		enc := json.NewEncoder(p.stdout)
		enc.SetIndent("", "  ")
		return exitOK, enc.Encode(rows)
	}
	for i, r := range rows {
		word := cmp.Or(pack.Signatures[i].Proven.Word(), "-")
		fmt.Fprintf(p.stdout, "%-10s %-9s %-10s %-28s %s\n", r.Layer, r.Severity, word, oneLine(r.ID), oneLine(r.Title))
	}
	return exitOK, nil
}

// defaultScrape is what Prometheus' own example has.
const defaultScrape = 15 * time.Second

// exportRules prints the signatures for a ruler.
func (p *program) exportRules(o *options, pack *rules.Pack, problems []rules.Problem) (int, error) {
	if o.scrape < time.Second || o.scrape > 10*time.Minute {
		return exitUsage, usagef("--scrape %v: want between 1s and 10m", o.scrape)
	}
	for _, problem := range rules.Mistakes(problems) {
		fmt.Fprintf(p.stderr, "stallmark: rules: %s\n", oneLine(problem.String()))
	}
	out, err := rules.Export(pack, o.scrape)
	if err != nil {
		return exitUsage, err
	}
	fmt.Fprintf(p.stderr, "%d alerts, %d signatures left out\n", out.Rules, len(out.Left))
	_, err = p.stdout.Write(out.YAML)
	return exitOK, err
}

// listCosts prints what the signatures cost the running service.
func (p *program) listCosts(ctx context.Context, o *options) (int, error) {
	body, err := askService(ctx, o, "/api/v1/costs")
	if err != nil {
		return exitUsage, err
	}
	if o.json {
		_, err := p.stdout.Write(body)
		return exitOK, err
	}
	var list []rules.Cost
	if err := json.Unmarshal(body, &list); err != nil {
		return exitUsage, fmt.Errorf("the service's answer: %w", err)
	}
	fmt.Fprintf(p.stdout, "%12s %12s %12s  %s\n", "mean", "most", "budget", "samples a beat")
	for _, c := range list {
		budget := "-"
		if c.Budget > 0 {
			budget = rules.Format(float64(c.Budget), "count")
		}
		note := ""
		if c.Off {
			note = "  (switched off)"
		}
		fmt.Fprintf(p.stdout, "%12s %12s %12s  %s%s\n",
			rules.Format(c.Mean, "count"), rules.Format(float64(c.Peak), "count"), budget, oneLine(c.Signature), note)
	}
	return exitOK, nil
}

func (p *program) checkRules(pack *rules.Pack, checks *audit.Pack, logs *patterns.Pack, problems []rules.Problem) (int, error) {
	for _, problem := range problems {
		if !problem.Note || !builtIn(pack, problem.File) {
			fmt.Fprintln(p.stdout, oneLine(problem.String()))
		}
	}
	if len(rules.Mistakes(problems)) > 0 {
		return exitFound, nil
	}
	fmt.Fprintf(p.stdout, "%d signatures, %d audit checks, %d log patterns with %d samples, no mistakes\n",
		len(pack.Signatures), checks.Len(), len(logs.Patterns), logs.Samples())
	return exitOK, nil
}

// builtIn reports whether a file is one of our own. Notes about those, such as
// a signature that is still to come, are no news for a user.
func builtIn(pack *rules.Pack, file string) bool {
	return slices.ContainsFunc(pack.Signatures, func(s *rules.Signature) bool { return s.BuiltIn && s.File == file })
}

func (p *program) testRules(ctx context.Context, pack *rules.Pack) (int, error) {
	failed := 0
	results := rules.RunTests(ctx, pack)
	for _, r := range results {
		if !r.OK {
			failed++
			fmt.Fprintln(p.stdout, oneLine(fmt.Sprintf("%s:%d: %s: %s: %s", r.File, r.Line, r.Signature, r.Name, r.Message)))
		}
	}
	fmt.Fprintf(p.stdout, "%d tests, %d failed\n", len(results), failed)
	if failed > 0 {
		return exitFound, nil
	}
	return exitOK, nil
}

// loadRules reads the signatures; a mistake in a user's file is said and
// stops nothing.
func (p *program) loadRules(o *options) *rules.Pack {
	pack, problems := rules.Load(o.rules...)
	for _, problem := range rules.Mistakes(problems) {
		fmt.Fprintf(p.stderr, "stallmark: rules: %s\n", oneLine(problem.String()))
	}
	return pack
}
