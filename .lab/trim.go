package main

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// trimmer leaves of a recording what speaks of one process and the host, without this machine's own names.
type trimmer struct {
	pid      string
	from, to time.Time
	names    *strings.Replacer
}

// trim writes the small copy of a recording.
func (tr trimmer) trim(in, out string) error {
	from, err := os.Open(in)
	if err != nil {
		return err
	}
	defer from.Close()
	z, err := zstd.NewReader(from)
	if err != nil {
		return err
	}
	defer z.Close()
	to, err := os.Create(out)
	if err != nil {
		return err
	}
	defer to.Close()
	c, err := zstd.NewWriter(to, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(8<<20))
	if err != nil {
		return err
	}
	w := tar.NewWriter(c)
	if err := tr.copy(tar.NewReader(z), w); err != nil {
		return fmt.Errorf("%s: %w", in, err)
	}
	return errors.Join(w.Close(), c.Close())
}

// entry is a file of a tick.
type entry struct {
	name string
	text []byte
}

// copy hands on tick by tick, since the time of a tick may stand at its end.
func (tr trimmer) copy(in *tar.Reader, out *tar.Writer) error {
	tick, files := "", []entry(nil)
	for {
		h, err := in.Next()
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		number := ""
		if err == nil {
			number, _, _ = strings.Cut(h.Name, "/")
		}
		if number != tick {
			if err := tr.put(out, files); err != nil {
				return err
			}
			tick, files = number, nil
		}
		if err != nil { // the end, or where an interrupt has cut it
			return nil
		}
		text, err := io.ReadAll(in)
		if err != nil {
			return nil
		}
		files = append(files, entry{h.Name, text})
	}
}

// put writes what is kept of a tick.
func (tr trimmer) put(out *tar.Writer, files []entry) error {
	if tr.outside(files) {
		return nil
	}
	for _, f := range files {
		if !tr.wanted(f) {
			continue
		}
		switch {
		case strings.HasSuffix(f.name, "/.dirs"):
			f.text = tr.dirs(f.text)
		case f.name == "meta.json":
			f.text = loopFact.ReplaceAll(f.text, nil)
		case strings.HasSuffix(f.name, "/proc/diskstats"):
			f.text = loopLine.ReplaceAll(f.text, nil)
		}
		text := tr.names.Replace(string(f.text))
		if err := out.WriteHeader(&tar.Header{Name: tr.names.Replace(f.name), Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			return err
		}
		if _, err := io.WriteString(out, text); err != nil {
			return err
		}
	}
	return nil
}

func (tr trimmer) outside(files []entry) bool {
	i := slices.IndexFunc(files, func(f entry) bool { return strings.HasSuffix(f.name, "/at") })
	if i < 0 {
		return false
	}
	at, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(string(files[i].text)))
	return err != nil || at.Before(tr.from) || at.After(tr.to)
}

// waits finds the states of a thread that a verdict reads: in the kernel's hands, or stopped.
var waits = regexp.MustCompile(`\) [DTt] `)

// Loop devices are other people's: their lines, settings and files.
var (
	loopFact = regexp.MustCompile(`"block\.loop\d+\.\w+":"[^"]*",`)
	loopLine = regexp.MustCompile(`(?m)^ *\d+ +\d+ loop\d+ .*\n`)
	loopFile = regexp.MustCompile(`/sys/(?:class/)?block/loop\d+/`)
)

var ofProcess = regexp.MustCompile(`^\d+/proc/(\d+)/(.*)$`)

// wanted drops other processes, loop devices, and all threads but those that wait for the kernel or are stopped.
func (tr trimmer) wanted(f entry) bool {
	m := ofProcess.FindStringSubmatch(f.name)
	switch {
	case loopFile.MatchString(f.name):
		return false
	case m == nil:
		return true
	case m[1] != tr.pid || strings.HasSuffix(m[2], "schedstat") && strings.HasPrefix(m[2], "task/") || m[2] == "maps":
		return false
	case strings.HasPrefix(m[2], "task/") && strings.HasSuffix(m[2], "/stat"):
		return waits.Match(f.text)
	}
	return true
}

var number = regexp.MustCompile(`^\d+$`)

// dirs drops other processes and loop devices from the lists of folders.
func (tr trimmer) dirs(text []byte) []byte {
	var lists map[string][]string
	if json.Unmarshal(text, &lists) != nil {
		return text
	}
	for folder, names := range lists {
		part := strings.Split(folder, "/")
		switch {
		case folder == "proc":
			lists[folder] = slices.DeleteFunc(names, func(n string) bool { return number.MatchString(n) && n != tr.pid })
		case strings.HasSuffix(folder, "/block"):
			lists[folder] = slices.DeleteFunc(names, func(n string) bool { return strings.HasPrefix(n, "loop") })
		case loopFile.MatchString("/" + folder + "/"):
			delete(lists, folder)
		case part[0] == "proc" && len(part) > 1 && number.MatchString(part[1]) && part[1] != tr.pid:
			delete(lists, folder)
		}
	}
	small, err := json.Marshal(lists)
	if err != nil {
		return text
	}
	return small
}
