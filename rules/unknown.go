package rules

import (
	"fmt"
	"slices"
	"strings"

	"stallmark/storage/model"
)

// explainMissing says why metrics are missing and what would mend it, from the
// coverage of the sources that provide them.
func explainMissing(missing []string, coverage []model.Coverage) (why, mend string) {
	var whys, mends []string
	bySource := map[string][]string{}
	var order []string
	for _, need := range missing {
		c := provider(need, coverage)
		if _, seen := bySource[c.Source]; !seen {
			order = append(order, c.Source)
		}
		bySource[c.Source] = append(bySource[c.Source], need)
	}
	for _, source := range order {
		i := slices.IndexFunc(coverage, func(c model.Coverage) bool { return c.Source == source })
		names := strings.Join(bySource[source], ", ")
		if source == "" || i < 0 {
			whys = append(whys, "nothing here measures "+names)
			continue
		}
		c := coverage[i]
		whys = append(whys, missingFrom(c, names))
		if c.Mend != "" && !slices.Contains(mends, c.Mend) {
			mends = append(mends, c.Mend)
		}
	}
	return strings.Join(whys, "; "), strings.Join(mends, "; ")
}

func missingFrom(c model.Coverage, names string) string {
	if c.State == model.SourceOK {
		return fmt.Sprintf("%s is read, but has no %s", c.Source, names)
	}
	text := fmt.Sprintf("%s is %s", c.Source, c.State)
	if c.Detail != "" {
		text += ": " + c.Detail
	}
	return fmt.Sprintf("%s (no %s)", text, names)
}

// provider is the source with the longest prefix of a metric's name among
// those that it provides; the zero value if there is none.
func provider(metric string, coverage []model.Coverage) model.Coverage {
	var best model.Coverage
	longest := 0
	for _, c := range coverage {
		for _, prefix := range c.Provides {
			if len(prefix) > longest && strings.HasPrefix(metric, prefix) {
				best, longest = c, len(prefix)
			}
		}
	}
	return best
}
