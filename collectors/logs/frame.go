package logs

import (
	"bytes"
	"fmt"
	"slices"
	"time"
)

// Format is how lines are wrapped by what carried them.
type Format string

// The formats.
const (
	FormatAuto       Format = ""               // found out from the first lines
	FormatPlain      Format = "plain"          // as the program wrote them
	FormatCompose    Format = "compose"        // "name  | text", docker compose logs
	FormatKubectl    Format = "kubectl"        // "TIME text", kubectl logs --timestamps, docker logs -t
	FormatCRI        Format = "cri"            // "TIME stdout F text", containerd and CRI-O
	FormatJSONFile   Format = "json-file"      // {"log":"text\n","stream":"stdout","time":"TIME"}, Docker
	FormatExport     Format = "journal-export" // journalctl -o export
	FormatJournal    Format = "journal-json"   // journalctl -o json
	FormatKernelRing Format = "kmsg"           // records of /dev/kmsg
)

// Formats lists the formats that a user may name.
func Formats() []Format {
	return []Format{
		FormatPlain, FormatCompose, FormatKubectl, FormatCRI, FormatJSONFile, FormatExport, FormatJournal, FormatKernelRing,
	}
}

// ParseFormat reads a format as the user names it.
func ParseFormat(name string) (Format, error) {
	f := Format(name)
	if !slices.Contains(Formats(), f) {
		return f, fmt.Errorf("format %q: want one of %v", name, Formats())
	}
	return f, nil
}

// framer takes lines out of what carried them. It keeps lines that come in
// several pieces until they are whole.
type framer struct {
	format  Format
	looked  int // lines at which auto has looked
	votes   [8]int8
	partial map[string][]byte // pieces of lines, by stream
	text    []byte            // unescaped
	export  exportEntry
	boot    time.Time // for records of the kernel
}

// frame is a line without its wrapping.
type frame struct {
	text   []byte
	at     time.Time // by the word of what carried it; zero if it has none
	source string    // container, unit or stream
	cut    bool      // the carrier or this program has cut it
}

// Lines at which auto looks before it stays with what it has seen: a format
// must fit all but one of them.
const sampleLines = 8

// unwrap takes a raw line. ok is false if there is no line to hand on (yet).
func (f *framer) unwrap(raw []byte, cut bool) (out frame, ok bool) {
	format := f.format
	if format == FormatAuto {
		format = f.guess(raw)
	}
	switch format {
	case FormatCompose:
		return composeLine(raw)
	case FormatKubectl:
		return kubectlLine(raw)
	case FormatCRI:
		return f.criLine(raw, cut)
	case FormatJSONFile:
		return f.jsonLine(raw, cut)
	case FormatJournal:
		return f.journalLine(raw)
	case FormatExport:
		return f.exportLine(raw)
	case FormatKernelRing:
		return f.kmsgLine(raw)
	}
	return frame{text: raw}, true
}

// guess finds the format of one line and, after some lines, of the log.
func (f *framer) guess(raw []byte) Format {
	format := formatOf(raw)
	f.looked++
	if format == FormatExport || format == FormatKernelRing && f.looked == 1 {
		f.format = format // whose other lines cannot be told by themselves
	}
	if f.looked <= sampleLines {
		f.votes[voteOf(format)]++
	}
	if f.looked == sampleLines {
		for i, n := range f.votes {
			if int(n) >= sampleLines-1 {
				f.format = votable()[i]
			}
		}
		if f.format == FormatAuto && f.votes[0] > 1 {
			f.format = FormatPlain
		}
	}
	if f.looked > 4*sampleLines && f.format == FormatAuto {
		f.format = FormatPlain
	}
	return format
}

// votable are the formats that can be told from a line.
func votable() []Format {
	return []Format{FormatPlain, FormatCompose, FormatKubectl, FormatCRI, FormatJSONFile, FormatJournal, FormatExport, FormatKernelRing}
}

func voteOf(f Format) int { return max(slices.Index(votable(), f), 0) }

// formatOf tells the format of a line by its shape.
func formatOf(raw []byte) Format {
	switch {
	case len(raw) == 0:
		return FormatPlain
	case raw[0] == '{':
		if bytes.Contains(raw, []byte(`"__REALTIME_TIMESTAMP"`)) {
			return FormatJournal
		}
		if bytes.HasPrefix(raw, []byte(`{"log":`)) && bytes.Contains(raw, []byte(`"time":"`)) {
			return FormatJSONFile
		}
		return FormatPlain
	case raw[0] == '_' && bytes.HasPrefix(raw, []byte("__CURSOR=")):
		return FormatExport
	case raw[0] >= '0' && raw[0] <= '9':
		if _, rest, ok := rfc3339(raw); ok {
			if _, _, _, ok := criTags(rest); ok {
				return FormatCRI
			}
			return FormatKubectl
		}
		if _, _, ok := kmsgHead(raw); ok {
			return FormatKernelRing
		}
	}
	if _, ok := composeLine(raw); ok {
		return FormatCompose
	}
	return FormatPlain
}

// maxName is the longest name of a container before its bar.
const maxName = 64

// composeLine reads "name  | text". The name is one word, padded.
func composeLine(raw []byte) (frame, bool) {
	bar := bytes.Index(raw[:min(len(raw), maxName+4)], []byte("| "))
	if bar < 2 || raw[bar-1] != ' ' {
		if bar = len(raw) - 1; bar < 2 || bar > maxName || raw[bar] != '|' || raw[bar-1] != ' ' {
			return frame{text: raw}, false
		}
	}
	name := bytes.TrimRight(raw[:bar], " ")
	if !containerName(name) {
		return frame{text: raw}, false
	}
	return frame{text: raw[min(bar+2, len(raw)):], source: string(name)}, true
}

// containerName reports whether a word can be the name of a compose container:
// one with a letter, not a level or time.
func containerName(name []byte) bool {
	if len(name) == 0 || !isLetter(name[0]) {
		return false
	}
	lower := false
	for _, b := range name {
		if !isLetter(b) && (b < '0' || b > '9') && b != '-' && b != '_' && b != '.' {
			return false
		}
		lower = lower || b >= 'a' && b <= 'z'
	}
	return lower
}

// rfc3339 reads a time stamp in UTC or with an offset and the blank behind it,
// as Docker and Kubernetes write it: with a fraction of a second.
func rfc3339(raw []byte) (at time.Time, rest []byte, ok bool) {
	end := bytes.IndexByte(raw[:min(len(raw), 40)], ' ')
	if end < len("2006-01-02T15:04:05.0Z") || raw[4] != '-' || raw[10] != 'T' || raw[19] != '.' {
		return time.Time{}, nil, false
	}
	at, err := time.Parse(time.RFC3339Nano, string(raw[:end]))
	if err != nil {
		return time.Time{}, nil, false
	}
	return at.UTC(), raw[end+1:], true
}

// kubectlLine reads "TIME text".
func kubectlLine(raw []byte) (frame, bool) {
	at, rest, ok := rfc3339(raw)
	if !ok {
		return frame{text: raw}, true
	}
	return frame{text: rest, at: at}, true
}

// criTags reads "stdout F text"; tags may be several, with colons between.
func criTags(raw []byte) (stream string, partial bool, text []byte, ok bool) {
	for _, stream := range []string{"stdout", "stderr"} {
		rest, is := bytes.CutPrefix(raw, []byte(stream+" "))
		if !is || len(rest) == 0 || rest[0] != 'F' && rest[0] != 'P' {
			continue
		}
		end := bytes.IndexByte(rest, ' ')
		if end < 0 {
			end = len(rest)
		}
		if end > 16 || end > 1 && rest[1] != ':' {
			continue
		}
		return stream, rest[0] == 'P', rest[min(end+1, len(rest)):], true
	}
	return "", false, nil, false
}

// criLine reads a record of the Kubernetes container runtime interface
// (kubernetes/design-proposals, kubelet-cri-logging).
func (f *framer) criLine(raw []byte, cut bool) (frame, bool) {
	at, rest, ok := rfc3339(raw)
	if !ok {
		return frame{text: raw, cut: cut}, true
	}
	stream, partial, text, ok := criTags(rest)
	if !ok {
		return frame{text: rest, at: at, cut: cut}, true
	}
	text, whole, tooLong := f.join(stream, text, partial)
	return frame{text: text, at: at, source: stream, cut: cut || tooLong}, whole
}

// join puts the pieces of a line together, by their stream. Beyond MaxLine the
// rest is dropped.
func (f *framer) join(stream string, piece []byte, partial bool) (text []byte, whole, tooLong bool) {
	have := f.partial[stream]
	if !partial && len(have) == 0 {
		return piece, true, false
	}
	if f.partial == nil {
		f.partial = map[string][]byte{}
	}
	room := MaxLine - len(have)
	have = append(have, piece[:min(max(room, 0), len(piece))]...)
	if partial {
		f.partial[stream] = have
		return nil, false, false
	}
	f.partial[stream] = have[:0]
	return have, true, room < len(piece)
}
