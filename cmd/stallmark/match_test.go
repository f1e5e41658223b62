package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

const storeLog = `2020-11-11 10:28:20 INFO StoreStatsService - [STORETPS] put_tps 123.5 120.1 119.0 get_found_tps 1.0
2020-11-11 10:28:23 WARN SendMessageThread_1 - [NOTIFYME]putMessage in lock cost time(ms)=1083, bodyLength=1024 AppendMessageResult=AppendMessageResult{status=PUT_OK, wroteOffset=26993456789, wroteBytes=1200, msgId='0A', storeTimestamp=1605061702100, logicsOffset=123, pagecacheRT=1082, msgNum=1}
2020-11-11 10:28:24 WARN SendMessageThread_2 - something odd 1234 about 'topicA'
2020-11-11 10:28:24 WARN SendMessageThread_3 - something odd 99 about 'topicB'
2020-11-11 10:28:24 WARN AllocateMappedFileService - Use default implementation.
`

const serverLog = `[2024-01-01 00:00:46,123] ERROR Error while accepting connection (kafka.network.DataPlaneAcceptor)
java.io.IOException: Too many open files
	at sun.nio.ch.ServerSocketChannelImpl.accept0(Native Method)
`

func writeLog(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	var b bytes.Buffer
	switch filepath.Ext(name) {
	case ".gz":
		w := gzip.NewWriter(&b)
		w.Write([]byte(text))
		w.Close()
	case ".zst":
		w, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(text))
		w.Close()
	default:
		b.WriteString(text)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Date(2030, 5, 5, 5, 5, 5, 0, time.UTC) // fits no stamp by chance
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	return path
}

// matchedJSON is what "rules match --json" prints, as far as tests look.
type matchedJSON struct {
	Matches []struct {
		File, Pattern, Proof, From, To, Zone, Note string
		Line                                       int64
		Fields                                     map[string]string
		Values                                     map[string]float64
	}
	Unmatched []struct {
		Count int64
		Shape string
		Level string
	}
	Patterns map[string]int64
}

func runMatchJSON(t *testing.T, args ...string) (matchedJSON, result) {
	t.Helper()
	got := runProgram(t, append([]string{"rules", "match", "--json"}, args...)...)
	var m matchedJSON
	if err := json.Unmarshal([]byte(got.stdout), &m); err != nil {
		t.Fatalf("%v in\n%s%s", err, got.stdout, got.stderr)
	}
	return m, got
}

func TestMatchCompressedAndPlain(t *testing.T) {
	for _, name := range []string{"store.log", "store.log.gz", "store.log.zst"} {
		m, got := runMatchJSON(t, writeLog(t, name, storeLog))
		if got.code != exitFound || len(m.Matches) != 3 || m.Patterns["rocketmq-default-implementation"] != 1 {
			t.Fatalf("%s: code %d, %+v", name, got.code, m)
		}
		put := m.Matches[1]
		if put.Pattern != "rocketmq-put-in-lock" || put.Line != 2 || put.From != "2020-11-11T02:28:22.100Z" || put.To != "2020-11-11T02:28:23.183Z" ||
			put.Fields["thread"] != "SendMessageThread_1" || put.Values["duration"] != 1.083 || put.Proof != "direct" {
			t.Errorf("%+v", put)
		}
		if !strings.Contains(m.Matches[0].Zone, "UTC+08:00 (proven by") {
			t.Errorf("the line before the proof: zone %q", m.Matches[0].Zone)
		}
		if len(m.Unmatched) != 1 || m.Unmatched[0].Count != 2 || m.Unmatched[0].Shape != "WARN SendMessageThread_# - something odd # about '#'" {
			t.Errorf("%+v", m.Unmatched)
		}
	}
}

func TestMatchZones(t *testing.T) {
	server, store := writeLog(t, "server.log", serverLog), writeLog(t, "store.log", storeLog)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"none":            {nil, "2024-01-01T00:00:46.123Z UTC (taken to be UTC"},
		"for all":         {[]string{"--zone", "Asia/Kolkata"}, "2023-12-31T18:30:46.123Z Asia/Kolkata (as set)"},
		"for a file":      {[]string{"--zone", "+08:00", "--zone", "server*=-03:00"}, "2024-01-01T03:00:46.123Z UTC-03:00 (as set)"},
		"for another one": {[]string{"--zone", "other.log=+08:00"}, "2024-01-01T00:00:46.123Z UTC (taken"},
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := runMatchJSON(t, append(c.args, server)...)
			if len(m.Matches) != 2 || !strings.HasPrefix(m.Matches[1].From+" "+m.Matches[1].Zone, c.want) {
				t.Errorf("%+v", m.Matches)
			}
		})
	}
	_, got := runMatchJSON(t, "--zone", "UTC", store)
	if !strings.Contains(got.stderr, "set to UTC, but UTC+08:00 is proven") {
		t.Errorf("a zone that is proven wrong: %q", got.stderr)
	}
}

// TestMatchZoneOfTheGCLog takes the offset from the GC log beside a log that
// names none.
func TestMatchZoneOfTheGCLog(t *testing.T) {
	server := writeLog(t, "server.log", serverLog)
	gc := filepath.Join(filepath.Dir(server), "kafkaServer-gc.log")
	if err := os.WriteFile(gc, []byte("[2024-01-01T00:00:00.123+0200][gc] GC(12) Pause Young (Normal) 1M->1M(4M) 12.3ms\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, _ := runMatchJSON(t, server, gc)
	if m.Matches[0].From != "2023-12-31T22:00:46.123Z" || !strings.Contains(m.Matches[0].Zone, "kafkaServer-gc.log") {
		t.Errorf("%+v", m.Matches[0])
	}
}

// TestMatchBoot has lines of the kernel that count from its boot.
func TestMatchBoot(t *testing.T) {
	kernel := writeLog(t, "dmesg.txt", "[ 3600.250000] Out of memory: Killed process 1234 (java) total-vm:1kB\n")
	for boot, want := range map[string]string{
		"2024-01-01T00:00:00Z":      "2024-01-01T01:00:00.250Z",
		"2024-01-01T05:45:00+05:45": "2024-01-01T01:00:00.250Z",
		"2024-01-01 08:00:00+08:00": "2024-01-01T01:00:00.250Z",
		"1704067200":                "2024-01-01T01:00:00.250Z",
	} {
		m, _ := runMatchJSON(t, "--boot", boot, kernel)
		if len(m.Matches) != 1 || m.Matches[0].From == "" || m.Matches[0].From != want {
			t.Errorf("%s: %+v", boot, m.Matches)
		}
	}
	if m, _ := runMatchJSON(t, kernel); m.Matches[0].From != "" || !strings.Contains(m.Matches[0].Note, "--boot") {
		t.Errorf("without it: %+v", m.Matches)
	}
	for _, bad := range []string{"yesterday", "2024-01-01T00:00:00", "-5", "99999999999"} {
		got := runProgram(t, "rules", "match", "--boot", bad, kernel)
		if got.code != exitUsage || !strings.Contains(got.stderr, `--boot "`+bad+`": want`) {
			t.Errorf("%s: code %d, %s", bad, got.code, got.stderr)
		}
	}
}

func TestMatchExitCodes(t *testing.T) {
	quiet := writeLog(t, "quiet.log", "2026-01-02 03:04:05 WARN x - Use default implementation.\n")
	broken := writeLog(t, "broken.log", "\x1f\x8b\x08nonsense")
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"only noise":    {[]string{quiet}, exitOK, "rocketmq-default-implementation"},
		"no file named": {nil, exitUsage, "name files"},
		"no such file":  {[]string{quiet, "/nonexistent/x.log"}, exitUsage, "no such file"},
		"a folder":      {[]string{t.TempDir()}, exitUsage, "is a folder"},
		"damaged":       {[]string{broken, quiet}, exitUsage, "broken.log"},
		"bad boot":      {[]string{"--boot", "soon", quiet}, exitUsage, `--boot "soon"`},
		"bad zone":      {[]string{"--zone", "Mars", quiet}, exitUsage, `zone "Mars"`},
		"bad file glob": {[]string{"--zone", "[=UTC", quiet}, exitUsage, "syntax error in pattern"},
	} {
		t.Run(name, func(t *testing.T) {
			got := runProgram(t, append([]string{"rules", "match"}, c.args...)...)
			if got.code != c.code || !strings.Contains(got.stdout+got.stderr, c.want) {
				t.Errorf("code %d, want %d; want %q in\n%s%s", got.code, c.code, c.want, got.stdout, got.stderr)
			}
		})
	}
}

// TestMatchReadsAPipeOnce is what <(zcat ...) gives in a shell.
func TestMatchReadsAPipeOnce(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip(err)
	}
	go os.WriteFile(fifo, []byte(storeLog), 0o600)
	if m, got := runMatchJSON(t, fifo); len(m.Matches) != 3 {
		t.Errorf("%d matches\n%s", len(m.Matches), got.stderr)
	}
}

// TestMatchZoneByTheFilesEnd has a file that was not touched after its last line.
func TestMatchZoneByTheFilesEnd(t *testing.T) {
	log := writeLog(t, "server.log", serverLog)
	changed := time.Date(2023, 12, 31, 18, 30, 47, 0, time.UTC)
	if err := os.Chtimes(log, changed, changed); err != nil {
		t.Fatal(err)
	}
	m, _ := runMatchJSON(t, log)
	if m.Matches[0].From != "2023-12-31T18:30:46.123Z" || !strings.Contains(m.Matches[0].Zone, "UTC+05:30 (by the file's last change") {
		t.Errorf("%+v", m.Matches[0])
	}
}

func TestMatchHostileText(t *testing.T) {
	log := writeLog(t, "store.log", "2026-01-02 03:04:05 ERROR \x1b[31m<script>\u202e - create mapped file1 error, topic: \x1b]0;x\xff clientAddr: y\n"+
		"2026-01-02 03:04:05 ERROR \x1b[31mevil\u202e\n")
	got := runProgram(t, "rules", "match", log)
	if strings.ContainsAny(got.stdout, "\x1b\u202e") {
		t.Errorf("escape codes reach the terminal: %q", got.stdout)
	}
	if m, _ := runMatchJSON(t, log); len(m.Matches) != 1 || len(m.Unmatched) != 1 {
		t.Errorf("%+v", m)
	}
}

func TestRulesCheckTriesSamples(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "patterns"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "product: mine\npatterns:\n  - {id: mine, title: T, versions: all, proof: hint, literals: [abcdef], meaning: M, match: [abcdeg]}\n"
	if err := os.WriteFile(filepath.Join(dir, "patterns", "mine.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got := runProgram(t, "rules", "check", "--rules", dir)
	if got.code != exitFound || !strings.Contains(got.stdout, `mine.yaml:3:94: mine: does not match its sample "abcdeg"`) {
		t.Errorf("code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}
