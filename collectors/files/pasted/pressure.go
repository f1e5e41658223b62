package pasted

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	psiLine = regexp.MustCompile(`^\s*(some|full) avg10=[0-9.]+ avg60=[0-9.]+ avg300=[0-9.]+ total=[0-9]+\s*$`)
	// What people write down by hand: "memory.pressure some avg10=100.00 full avg10=91.14".
	psiHand  = regexp.MustCompile(`^\s*(?:([\w./:-]*?(cpu|io|memory|irq)[\w./-]*)[:\s]+)?(?:some|full)[: ]\s*avg10=[0-9.]+`)
	psiField = regexp.MustCompile(`(some|full)|avg(10|60|300)=([0-9.]+)`)
)

// resourceUnknown is said of pressure without the name of its file.
const resourceUnknown = "of which resource is unknown: give the file's name too, as head /proc/pressure/* does"

// readPressure reads files of /proc/pressure. Which one it is only a line above
// tells, or the same line in what was written down by hand.
func readPressure(r *reading, list []line) (*Part, int) {
	n := min(run(list, psiLine), 2)
	if n == 2 && strings.TrimSpace(list[0].text)[:4] == strings.TrimSpace(list[1].text)[:4] {
		n = 1 // two files
	}
	if n == 0 {
		return readPressureByHand(r, list)
	}
	p := &Part{Format: "pressure"}
	known := strings.HasPrefix(r.path, "proc/pressure/")
	if known {
		p = r.file("pressure", r.path, list, n)
		p.say("/%s", r.path)
	}
	for _, l := range list[:n] {
		p.say("%s", psiWords(l.text))
	}
	if !known {
		p.note(list[0].no, resourceUnknown)
	}
	return p, n
}

// readPressureByHand reads averages without the rest.
func readPressureByHand(_ *reading, list []line) (*Part, int) {
	text := list[0].text
	if !strings.Contains(text, "avg10=") || len(text) > 1000 {
		return nil, 0
	}
	m := psiHand.FindStringSubmatch(text)
	if m == nil {
		return nil, 0
	}
	p := &Part{Format: "pressure"}
	if m[1] != "" {
		p.say("%s", shorten(m[1]))
	} else {
		p.note(list[0].no, resourceUnknown)
	}
	p.say("%s", psiWords(text))
	p.note(list[0].no, "means at one moment: two readings with total= and their times give what passed between them")
	return p, 1
}

// psiWords says what the averages of a line mean.
func psiWords(text string) string {
	var out []string
	who := "some task"
	for _, m := range psiField.FindAllStringSubmatch(text, -1) {
		switch {
		case m[1] == "full":
			who = "all tasks at once"
		case m[1] == "some":
			who = "some task"
		case m[2] == "10":
			out = append(out, fmt.Sprintf("in the last 10 s %s waited %s %% of the time", who, m[3]))
		case m[2] == "300":
			out = append(out, fmt.Sprintf("in five minutes %s %%", m[3]))
		}
	}
	return strings.Join(out, ", ")
}

// psiTotal is the waiting time of a line, in microseconds.
func psiTotal(text string) (float64, bool) {
	_, rest, ok := strings.Cut(text, "total=")
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseUint(strings.TrimSpace(rest), 10, 64)
	return float64(v), err == nil
}
