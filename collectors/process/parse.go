package process

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// stat is what /proc/PID/stat and /proc/PID/task/TID/stat say
// (Documentation/filesystems/proc.rst, table 1-4).
type stat struct {
	comm           []byte // between the outer parentheses; hostile, in the reader's buffer
	state          byte
	flags          uint64 // PF_*
	minflt, majflt uint64
	utime, stime   uint64 // clock ticks
	threads        uint64
	start          uint64 // clock ticks after boot
}

// pfKthread is PF_KTHREAD of include/linux/sched.h.
const pfKthread = 0x00200000

func (s *stat) kernelThread() bool { return s.flags&pfKthread != 0 }

// ended reports whether nothing runs any more; a leader may be a zombie while
// other threads go on.
func (s *stat) ended() bool { return (s.state == 'Z' || s.state == 'X') && s.threads <= 1 }

// parseStat reads the fields by number; the command name may hold anything, so
// they are counted from the last parenthesis.
func parseStat(b []byte) (stat, bool) {
	var s stat
	from, to := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if from < 0 || to < from {
		return s, false
	}
	s.comm = b[from+1 : to]
	rest := b[to+1:]
	word, rest := nextField(rest)
	if len(word) != 1 {
		return s, false
	}
	s.state = word[0]
	targets := [...]*uint64{
		9: &s.flags, 10: &s.minflt, 12: &s.majflt, 14: &s.utime, 15: &s.stime, 20: &s.threads, 22: &s.start,
	}
	for i := 4; i < len(targets); i++ {
		word, rest = nextField(rest)
		if targets[i] == nil {
			continue
		}
		v, ok := parseUint(word)
		if !ok {
			return s, false
		}
		*targets[i] = v
	}
	return s, true
}

// schedstat is /proc/PID/task/TID/schedstat: nanoseconds on a CPU, nanoseconds
// waiting for one, and how often the thread came onto one.
type schedstat struct {
	run, delay, slices uint64
}

func parseSchedstat(b []byte) (schedstat, bool) {
	var s schedstat
	for _, target := range [...]*uint64{&s.run, &s.delay, &s.slices} {
		var word []byte
		word, b = nextField(b)
		v, ok := parseUint(word)
		if !ok {
			return s, false
		}
		*target = v
	}
	return s, true
}

// eachLine calls f with each line's first word, without a trailing colon, and
// the rest after blanks.
func eachLine(b []byte, f func(key, rest []byte)) {
	for len(b) > 0 {
		var line []byte
		line, b = cutLine(b)
		key, rest := nextField(line)
		if len(key) > 0 {
			f(bytes.TrimSuffix(key, []byte(":")), rest)
		}
	}
}

// cutLine splits off the first line, without its newline.
func cutLine(b []byte) (line, rest []byte) {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return b[:i], b[i+1:]
	}
	return b, nil
}

// nextField splits off the first word.
func nextField(b []byte) (word, rest []byte) {
	i := 0
	for i < len(b) && isBlank(b[i]) {
		i++
	}
	j := i
	for j < len(b) && !isBlank(b[j]) {
		j++
	}
	return b[i:j], b[j:]
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// parseUint reads a decimal number; anything else, or one beyond 64 bits, is
// not ok.
func parseUint(b []byte) (uint64, bool) {
	if len(b) == 0 || len(b) > 20 {
		return 0, false
	}
	var v uint64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		next := v*10 + uint64(c-'0')
		if v > (1<<64-1)/10 || next < v*10 {
			return 0, false
		}
		v = next
	}
	return v, true
}

// parseNumber reads the number that a whole file holds.
func parseNumber(b []byte) (uint64, bool) {
	word, rest := nextField(b)
	if len(bytes.TrimSpace(rest)) > 0 {
		return 0, false
	}
	return parseUint(word)
}

// maxName is the longest name that is kept of a process, thread or path part.
const maxName = 64

// cleanName makes hostile bytes a name that can stand in a label: valid UTF-8,
// printable, not too long.
func cleanName(b string) string { return cleanText(b, maxName) }

// cleanText does so for a text of at most max characters.
func cleanText(b string, max int) string {
	s := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(b, "?"))
	if utf8.RuneCountInString(s) > max {
		s = string([]rune(s)[:max])
	}
	return s
}

// ParseID reads the pid and the start time out of /proc/PID/stat.
func ParseID(b []byte) (ID, bool) {
	st, ok := parseStat(b)
	pid, _ := parseUint(b[:max(0, bytes.IndexByte(b, ' '))])
	return ID{int(pid), st.start}, ok && pid > 0
}
