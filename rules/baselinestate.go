package rules

import (
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"
)

// baselineFormat is the version of the JSON.
const baselineFormat = 1

// baselineFile is baselines as they are kept and carried in recordings.
type baselineFile struct {
	Format    int             `json:"format"`
	Baselines []baselineEntry `json:"baselines"`
}

type baselineEntry struct {
	Name    string             `json:"name"`
	Labels  map[string]string  `json:"labels"`
	Unit    string             `json:"unit"`
	Hours   int                `json:"hours"` // finding-free hours in it
	Last    time.Time          `json:"last"`  // end of the last of them
	Median  float64            `json:"median"`
	P99     float64            `json:"p99"`
	Buckets map[string]float64 `json:"buckets"` // weight by number: bucket n begins at 2^(n/4), -121 is 0
}

// Save gives what was learned as JSON.
func (k *Baselines) Save() ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	file := baselineFile{Format: baselineFormat, Baselines: []baselineEntry{}}
	for _, key := range k.sortedKeys() {
		l := k.known[key]
		file.Baselines = append(file.Baselines, baselineEntry{
			Name: l.name, Labels: l.labels, Unit: l.unit, Hours: l.hours, Last: l.last.UTC(),
			Median: l.usual.quantile(0.5), P99: l.usual.quantile(0.99), Buckets: l.usual.encoded(),
		})
	}
	return json.Marshal(file)
}

// Load takes over what [Baselines.Save] gave. After an error nothing is changed;
// single entries that cannot be right are left out.
func (k *Baselines) Load(data []byte) error {
	var file baselineFile
	if err := json.Unmarshal(data, &file); err != nil {
		return fmt.Errorf("baselines: %w", err)
	}
	if file.Format != baselineFormat {
		return fmt.Errorf("baselines: format %d, want %d", file.Format, baselineFormat)
	}
	known := map[string]*learned{}
	for _, e := range file.Baselines {
		h := decodeHistogram(e.Buckets)
		if !validID.MatchString(e.Name) || len(h) == 0 || e.Hours < 1 || !validLabels(e.Labels) || len(known) >= maxBaselines {
			continue
		}
		known[e.Name+"\x00"+subjectKey(e.Labels)] = &learned{
			name: e.Name, labels: e.Labels, unit: e.Unit, usual: h, hours: e.Hours, last: e.Last,
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known = known
	k.version++
	return nil
}

// validLabels reports whether labels that come from a file can be those of a
// series.
func validLabels(set map[string]string) bool {
	for name, v := range set {
		if !validLet.MatchString(name) || name == baselineLabel || name == "quantile" || !utf8.ValidString(v) || len(v) > 256 {
			return false
		}
	}
	return true
}
