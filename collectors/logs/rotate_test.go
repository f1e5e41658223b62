package logs

import (
	"compress/gzip"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func TestFollowsFromTheEndAndFromTheStartOfNewFiles(t *testing.T) {
	r := newRig(t, nil, "*.log")
	r.append("store.log", "old\nhalf")
	r.poll()
	r.append("store.log", " of a line\nnew\n")
	r.poll()
	r.want("new")
	r.append("late.log", "first\nsecond\n")
	r.append("other.txt", "not wanted\n")
	r.poll()
	r.want("new", "first", "second")
	r.append("late.log", "un")
	r.poll()
	r.append("late.log", "finished\n")
	r.poll()
	r.want("new", "first", "second", "unfinished")
}

func TestRotationByRename(t *testing.T) {
	r := newRig(t, nil, "*.log")
	r.append("store.log", "")
	r.poll()
	r.append("store.log", "1\n")
	r.poll()
	r.append("store.log", "2\n")
	r.rename("store.log", "store.log.1")
	r.append("store.log.1", "3\n") // its writer has not been told yet
	r.poll()
	r.append("store.log", "4\n")
	r.poll()
	r.append("store.log.1", "3b\n")
	r.append("store.log", "5\n")
	r.poll()
	r.want("1", "2", "3", "4", "3b", "5")
	r.later(time.Minute)
	r.poll()
	if n := len(r.d.order[0].parts); n != 1 {
		t.Errorf("%d parts are open, want 1", n)
	}
	r.append("store.log", "6\n")
	r.poll()
	r.want("1", "2", "3", "4", "3b", "5", "6")
}

func TestSeveralRenamesBetweenTwoLooks(t *testing.T) {
	r := newRig(t, nil, "store.log")
	r.append("store.log", "zero, which is there before\n")
	r.append("store.log.1", "older\n")
	r.append("store.log.2.gz", "garbage\n")
	r.poll()
	r.append("store.log", "1\n")
	for _, text := range []string{"2\n", "3\n", "4\n"} {
		r.shift(5)
		r.rename("store.log", "store.log.1")
		time.Sleep(8 * time.Millisecond) // the file system's clock must tick between two files
		r.append("store.log", text)
	}
	r.poll()
	r.want("1", "2", "3", "4")
}

func numbered(n int) string { return "store.log." + string(rune('0'+n)) }

func TestRotationByCopyAndTruncate(t *testing.T) {
	r := newRig(t, nil, "store.log*")
	r.append("store.log", "there before\n")
	r.poll()
	for round := range 3 {
		n := string(rune('a' + round))
		r.append("store.log", n+"1\n")
		r.poll()
		r.append("store.log", n+"2\n")
		r.copyTruncate(round + 1)
		r.append("store.log", n+"3\n")
		r.poll()
	}
	r.want("a1", "a2", "a3", "b1", "b2", "b3", "c1", "c2", "c3")
}

// shift renames store.log.1 to .2 and so on, as far as there are any.
func (r *rig) shift(rounds int) {
	for n := rounds; n > 0; n-- {
		_ = os.Rename(r.path(numbered(n)), r.path(numbered(n+1)))
	}
}

// copyTruncate does what logrotate does.
func (r *rig) copyTruncate(rounds int) {
	r.t.Helper()
	r.shift(rounds)
	data, err := os.ReadFile(r.path("store.log"))
	must(r.t, err)
	must(r.t, os.WriteFile(r.path("store.log.1"), data, 0o600))
	must(r.t, os.Truncate(r.path("store.log"), 0))
}

func TestTwoTruncationsBetweenTwoLooks(t *testing.T) {
	r := newRig(t, nil, "store.log")
	r.append("store.log", "there before\n")
	r.poll()
	r.append("store.log", "1\n")
	r.poll()
	for i, text := range []string{"2\n", "3\n", "4\n"} {
		r.append("store.log", text)
		r.copyTruncate(i + 1)
		time.Sleep(8 * time.Millisecond)
	}
	r.append("store.log", "5\n")
	r.poll()
	r.want("1", "2", "3", "4", "5")
}

// TestTruncationBetweenScanAndRead has a file truncated after its copy was seen
// and before the copied lines were read.
func TestTruncationBetweenScanAndRead(t *testing.T) {
	r := newRig(t, nil, "store.log")
	r.append("store.log", "")
	r.poll()
	r.append("store.log", "a1\na2\n")
	must(t, os.WriteFile(r.path("store.log.1"), []byte("a1\na2\n"), 0o600))
	r.d.scan(r.at)
	must(t, os.WriteFile(r.path("store.log"), []byte("b1\n"), 0o600)) // the same inode
	r.d.calm = false
	r.d.pollStream(t.Context(), r.d.order[0], r.at)
	r.want("b1")
	r.append("store.log", "b2\n")
	r.copyTruncate(1)
	r.append("store.log", "c1\n")
	r.poll()
	r.want("b1", "a1", "a2", "b2", "c1")
}

func TestTruncationWhileEmpty(t *testing.T) {
	r := newRig(t, nil, "store.log")
	r.append("store.log", "")
	r.poll()
	r.append("store.log", "1\n")
	r.copyTruncate(1)
	r.poll()
	r.want("1")
	r.append("store.log", "2\n")
	r.poll()
	r.want("1", "2")
}

func TestTruncatedAndGrownBeyond(t *testing.T) {
	r := newRig(t, nil, "store.log")
	r.append("store.log", "there\n")
	r.poll()
	must(t, os.WriteFile(r.path("store.log"), []byte("another text that is longer\n"), 0o600))
	r.poll()
	r.want("another text that is longer")
}

func TestHoleAfterTruncation(t *testing.T) {
	r := newRig(t, nil, "gc.log")
	f, err := os.Create(r.path("gc.log")) // not in append mode
	must(t, err)
	defer f.Close()
	_, err = f.WriteString(strings.Repeat("there\n", 20_000))
	must(t, err)
	r.poll()
	must(t, os.Truncate(r.path("gc.log"), 0))
	_, err = f.WriteString("after\n")
	must(t, err)
	r.poll()
	r.want("after")
}

func TestCyclicRotationOfAJVM(t *testing.T) {
	r := newRig(t, nil, "gc.log")
	r.append("gc.log.0", "older 0\n")
	r.append("gc.log.1", "older 1\n")
	r.append("gc.log", "there before\n")
	r.poll()
	var want []string
	for i := range 7 {
		text := "line " + string(rune('0'+i))
		want = append(want, text)
		r.append("gc.log", text+"\n")
		r.rename("gc.log", "gc.log."+string(rune('0'+(i+2)%3)))
		r.append("gc.log", "")
		r.poll()
	}
	r.want(want...)
}

func TestCyclicRotationOfAnOldJVM(t *testing.T) {
	r := newRig(t, nil, "gc.log")
	r.append("gc.log.0.current", "there before\n")
	r.poll()
	var want []string
	for i := range 7 {
		text := "line " + string(rune('0'+i))
		want = append(want, text)
		now, next := "gc.log."+string(rune('0'+i%3)), "gc.log."+string(rune('0'+(i+1)%3))
		r.append(now+".current", text+"\n")
		r.rename(now+".current", now)
		_ = os.Remove(r.path(next))
		if i%2 == 0 {
			r.poll() // between the two
		}
		r.append(next+".current", "")
		r.poll()
	}
	r.want(want...)
}

func TestDeletionAndInodeReuse(t *testing.T) {
	r := newRig(t, nil, "store.log")
	r.append("store.log", "there before\n")
	r.poll()
	r.append("store.log", "1\n")
	must(t, os.Remove(r.path("store.log")))
	r.poll()
	r.want("1")
	r.later(time.Minute)
	r.poll()
	if n := len(r.d.order[0].parts); n != 0 {
		t.Errorf("%d deleted files are held open", n)
	}
	r.append("store.log", "2\n") // most likely under the same inode number
	r.poll()
	r.want("1", "2")
}

func TestSymbolicLink(t *testing.T) {
	r := newRig(t, nil, "now.log")
	other := t.TempDir()
	must(t, os.WriteFile(other+"/a", []byte("there before\n"), 0o600))
	must(t, os.Symlink(other+"/a", r.path("now.log")))
	r.poll()
	appendTo(t, other+"/a", "1\n")
	r.poll()
	must(t, os.WriteFile(other+"/b", []byte("2\n"), 0o600))
	must(t, os.Symlink(other+"/b", r.path("next")))
	r.rename("next", "now.log")
	r.poll()
	appendTo(t, other+"/b", "3\n")
	r.poll()
	r.want("1", "2", "3")
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
	must(t, err)
	_, err = f.WriteString(text)
	must(t, err)
	must(t, f.Close())
}

func TestResume(t *testing.T) {
	long := strings.Repeat("x", 300) + "\n"
	for _, c := range []struct {
		name string
		down func(r *rig)
		want []string
	}{
		{"nothing happened", func(*rig) {}, nil},
		{"it grew", func(r *rig) { r.append("store.log", "2\n") }, []string{"2"}},
		{"renamed", func(r *rig) {
			r.append("store.log", "2\n")
			r.rename("store.log", "store.log.1")
			r.append("store.log", "3\n")
		}, []string{"2", "3"}},
		{"renamed twice", func(r *rig) {
			r.append("store.log", "2\n")
			r.rename("store.log", "store.log.2")
			time.Sleep(8 * time.Millisecond)
			r.append("store.log.1", "3\n")
			time.Sleep(8 * time.Millisecond)
			r.append("store.log", "4\n")
		}, []string{"2", "3", "4"}},
		{"renamed and compressed", func(r *rig) {
			r.append("store.log", "2\nunfinished")
			r.compress("store.log", "store.log.1.gz")
			r.append("store.log", "3\n")
		}, []string{"2", "unfinished", "3"}},
		{"copied and truncated", func(r *rig) {
			r.append("store.log", "2\n")
			r.copyTruncate(1)
			r.append("store.log", "3\n")
		}, []string{"2", "3"}},
		{"another file", func(r *rig) {
			must(r.t, os.Remove(r.path("store.log")))
			r.append("store.log", strings.Repeat("y", 400)+"\n")
		}, []string{strings.Repeat("y", 400)}},
		{"overwritten", func(r *rig) {
			must(r.t, os.WriteFile(r.path("store.log"), []byte(strings.Repeat("z", 1000)+"\n"), 0o600))
		}, []string{strings.Repeat("z", 1000)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, nil, "store.log")
			r.append("store.log.9", "older\n")
			time.Sleep(8 * time.Millisecond)
			r.append("store.log", long)
			r.poll()
			r.append("store.log", "1\n")
			r.poll()
			r.want("1")
			saved := r.saved()
			r.d.shut()
			c.down(r)
			r.start(saved, "store.log")
			r.poll()
			r.want(c.want...)
			r.append("store.log", "at last\n")
			r.poll()
			r.want(append(c.want, "at last")...)
		})
	}
}

func (r *rig) compress(from, to string) {
	r.t.Helper()
	data, err := os.ReadFile(r.path(from))
	must(r.t, err)
	f, err := os.Create(r.path(to))
	must(r.t, err)
	z := gzip.NewWriter(f)
	_, err = z.Write(data)
	must(r.t, err)
	must(r.t, z.Close())
	must(r.t, f.Close())
	must(r.t, os.Remove(r.path(from)))
}

// TestDeletedLogsAreForgotten has logs with dates in their names, of which all
// but the newest are deleted.
func TestDeletedLogsAreForgotten(t *testing.T) {
	r := newRig(t, nil, "pod-*.log")
	closed := 0
	r.cfg.Close = func(Consumer) { closed++ }
	r.poll()
	for n := range 40 {
		name := fmt.Sprintf("pod-%c%c.log", 'a'+n/26, 'a'+n%26)
		r.append(name, name+"\n")
		r.poll()
		if n < 39 {
			must(t, os.Remove(r.path(name)))
		}
		r.later(lingerFor)
		r.poll()
	}
	r.later(2 * lingerFor)
	r.poll()
	states, _, _ := r.d.status()
	if len(states) > maxGone+1 || len(r.d.order) != len(r.d.streams) {
		t.Errorf("%d logs are named, %d streams", len(states), len(r.d.streams))
	}
	r.later(forgetAfter + time.Second)
	r.poll()
	if states, _, _ = r.d.status(); len(states) != 1 || !states[0].Found || closed != 39 || len(r.d.claims.owner) != 1 {
		t.Errorf("%+v, %d closed, claims %v", states, closed, r.d.claims.owner)
	}
	if got := strings.Count(r.got.text(), "pod-"); got != 40 {
		t.Errorf("%d lines came, want 40", got)
	}
}

// TestALogThatWasMovedAwayIsReadOn keeps the file open: its writer may go on.
func TestALogThatWasMovedAwayIsReadOn(t *testing.T) {
	r := newRig(t, nil, "store.log")
	r.append("store.log", "")
	r.poll()
	r.rename("store.log", "aside")
	for range 3 {
		r.later(forgetAfter)
		r.poll()
	}
	r.append("aside", "1\n")
	r.poll()
	r.rename("aside", "store.log")
	r.append("store.log", "2\n")
	r.poll()
	r.want("1", "2")
}
