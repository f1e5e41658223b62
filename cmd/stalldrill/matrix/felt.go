package matrix

import (
	"fmt"
	"slices"

	"stallmark/cmd/stalldrill/work"
)

// felt names the operation of the victim that suffered most, by its p99 in the
// drills, with the medians of that and of the quiet time before.
func (m Matrix) felt() string {
	before, during := map[string][]float64{}, map[string][]float64{}
	for _, v := range m {
		for _, row := range v.Felt {
			p99 := row.Wait.P99
			if row.Phase == "drill" {
				during[row.Operation] = append(during[row.Operation], p99)
			} else {
				before[row.Operation] = append(before[row.Operation], p99)
			}
		}
	}
	worst := ""
	for name, all := range during {
		a, b := median(all), median(during[worst])
		if a > b || a == b && name < worst {
			worst = name
		}
	}
	if worst == "" {
		return ""
	}
	var f work.Felt
	text := f.Text(median(during[worst]))
	if len(before[worst]) > 0 {
		text = f.Text(median(before[worst])) + ", " + text
	}
	return fmt.Sprintf("%s %s", worst, text)
}

// median of no values is 0.
func median(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
