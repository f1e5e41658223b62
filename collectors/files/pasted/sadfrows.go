package pasted

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// sadfRow is a line of "sadf -p": host, interval, time, item, column and value.
var sadfRow = regexp.MustCompile(`^(\S+)\s+(-?[0-9]+)\s+([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?: UTC)?|[0-9]{9,10})\s+(\S+)\s+([%\w./-]+)\s+([0-9.,]+|-[0-9.]+)\s*$`)

// readSadf reads the tables of "sadf -d" (a heading that begins with "# hostname",
// fields between semicolons) and the lines of "sadf -p" (a value a line).
func readSadf(r *reading, list []line) (*Part, int) {
	if strings.HasPrefix(list[0].text, "# hostname;interval;timestamp;") {
		return r.sadfTable(list)
	}
	if !sadfRow.MatchString(list[0].text) {
		return nil, 0
	}
	return r.sadfLines(list)
}

// sadfColumns finds the table of sar with these columns.
func sadfColumns(columns []string) (sarTable, bool) {
	for _, t := range sarTables() {
		if slices.Contains(columns, t.key) {
			return t, true
		}
	}
	return sarTable{}, false
}

// sadfTable reads one table of "sadf -d".
func (r *reading) sadfTable(list []line) (*Part, int) {
	columns := strings.Split(list[0].text, ";")[3:]
	table, known := sadfColumns(columns)
	t := &sar{r: r, part: &Part{}, table: table, columns: columns, wait: map[string]float64{}, dated: true, idlest: 101}
	n := 1
	for ; n < len(list); n++ {
		words := strings.Split(list[n].text, ";")
		if len(words) < 4 || !strings.Contains(list[n].text, ";") || strings.HasPrefix(words[0], "#") {
			break
		}
		at, ok := r.sadfAt(words[2])
		if !ok {
			break
		}
		if strings.HasPrefix(words[3], "LINUX-RESTART") {
			t.part.note(list[n].no, "the host was started again here")
			continue
		}
		if !known {
			continue
		}
		if !t.sadfRow(list[n].no, at, words[3:]) {
			t.part.note(list[n].no, "not %d numbers, as the heading wants; the row is left out", len(columns))
		}
	}
	if len(t.part.Rows) == 0 {
		t.part.Format = "sadf"
		t.part.say("recognised and not used: %s", shorten(strings.Join(columns, " ")))
		return t.part, n
	}
	t.finish()
	return t.part, n
}

// sadfRow adds the values of a row under their columns.
func (t *sar) sadfRow(no int, at time.Time, words []string) bool {
	if len(words) != len(t.columns) {
		return false
	}
	name, columns := "", t.columns
	if t.table.device || t.table.key == "CPU" {
		name, words, columns = strings.Replace(words[0], "-1", "all", 1), words[1:], columns[1:]
	}
	values, _ := numbers(words)
	if len(values) != len(columns) { // a field may be empty
		return false
	}
	t.at(no, at)
	row := &t.part.Rows[len(t.part.Rows)-1]
	row.Values = append(row.Values, t.values(name, byName(columns, values))...)
	return true
}

// at begins a row unless the last one is of this time.
func (t *sar) at(no int, at time.Time) {
	if len(t.part.Rows) == 0 || !at.Equal(t.last) {
		t.part.Rows = append(t.part.Rows, Row{Line: no, At: at})
		t.last = at
	}
}

// sadfLines reads lines of "sadf -p" as the rows that they were.
func (r *reading) sadfLines(list []line) (*Part, int) {
	t := &sar{r: r, part: &Part{}, wait: map[string]float64{}, dated: true, idlest: 101}
	n := 0
	for n < len(list) {
		m := sadfRow.FindStringSubmatch(list[n].text)
		if m == nil {
			break
		}
		at, _ := r.sadfAt(m[3])
		values := map[string]float64{}
		first := n
		for ; n < len(list); n++ {
			next := sadfRow.FindStringSubmatch(list[n].text)
			if next == nil || next[3] != m[3] || next[4] != m[4] {
				break
			}
			if _, twice := values[next[5]]; twice {
				break
			}
			if v, ok := number(next[6]); ok {
				values[next[5]] = v
			}
		}
		t.sadfItem(list[first].no, at, m[4], values)
	}
	t.part.Format = "sadf"
	if len(t.part.Rows) == 0 {
		t.part.say("recognised and not used")
		return t.part, n
	}
	slices.SortStableFunc(t.part.Rows, func(a, b Row) int { return a.At.Compare(b.At) })
	t.part.Rows = joinRows(t.part.Rows)
	t.finish()
	return t.part, n
}

// sadfItem adds what is said of one item, "-" for the host, at a time.
func (t *sar) sadfItem(no int, at time.Time, item string, values map[string]float64) {
	columns := make([]string, 0, len(values)+1)
	for c := range values {
		columns = append(columns, c)
	}
	switch _, tps := values["tps"]; {
	case tps && item != "-":
		columns = append(columns, "DEV")
	case item == "all" || strings.HasPrefix(item, "cpu"):
		columns = append(columns, "CPU")
	}
	table, ok := sadfColumns(columns)
	if !ok {
		return
	}
	t.table = table
	t.at(no, at)
	row := &t.part.Rows[len(t.part.Rows)-1]
	row.Values = append(row.Values, t.values(item, values)...)
}

// sadfAt reads the time of a row: with a day, or in seconds since 1970.
func (r *reading) sadfAt(s string) (time.Time, bool) {
	if v, ok := number(s); ok && v > 8e8 && v < 7e9 {
		return time.Unix(int64(v), 0).UTC(), true
	}
	zone := r.o.Zone
	if rest, ok := strings.CutSuffix(s, " UTC"); ok {
		s, zone = rest, time.UTC
	}
	t, err := time.ParseInLocation("2006-01-02 15:04:05", s, zone)
	return t, err == nil && plausible(t)
}
