package storage

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"stallmark/storage/model"
)

func ignoreSizeSignal() { signal.Ignore(syscall.SIGXFSZ) }

// killedParent appends beats as fast as they are confirmed, and says each one's
// number on standard output once it is in the head. It is killed from outside.
func killedParent(path string) error {
	s, err := Open(context.Background(), Options{Path: path, Now: time.Now, Child: childCommandOf(path)})
	if err != nil {
		return err
	}
	first, err := strconv.ParseInt(os.Getenv("STALLMARK_TEST_FIRST"), 10, 64)
	if err != nil {
		return err
	}
	fmt.Println("pid", s.Status().ChildPID)
	series := []*model.Series{model.NewSeries("beat"), model.NewSeries("half", "of", "beat")}
	pause := time.NewTicker(2 * time.Millisecond)
	for i := first; ; i++ {
		<-pause.C
		at := base + i*1000
		s.Append(beatOf(at, series, float64(i), float64(i)/2))
		if i%10 == 0 {
			from := time.UnixMilli(at).UTC()
			s.Event(model.Event{From: from, To: from, Kind: model.EventSelf, Text: strconv.FormatInt(i, 10)})
		}
		fmt.Println(i)
	}
}

// victim is a parent that is going to be killed.
type victim struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
	child int
	last  int64               // number of the last beat that it said
	said  map[int64]time.Time // when it said each
	loss  time.Duration       // what came in so long before the end may be missing
}

func startVictim(t testing.TB, path string, first int64) *victim {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"=parent", pathEnv+"="+path, fmt.Sprint("STALLMARK_TEST_FIRST=", first))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	v := &victim{cmd: cmd, lines: bufio.NewScanner(out), last: first - 1, said: map[int64]time.Time{}}
	if !v.lines.Scan() {
		t.Fatal("the parent did not begin")
	}
	if _, err := fmt.Sscanf(v.lines.Text(), "pid %d", &v.child); err != nil {
		t.Fatal(err)
	}
	return v
}

// until reads what the victim says up to n beats.
func (v *victim) until(n int) {
	for ; n > 0 && v.lines.Scan(); n-- {
		v.note()
	}
}

func (v *victim) note() {
	if n, err := strconv.ParseInt(strings.TrimSpace(v.lines.Text()), 10, 64); err == nil {
		v.last, v.said[n] = n, time.Now()
	}
}

// kill kills parent, child or both, and reads what the parent still said.
func (v *victim) kill(t testing.TB, r *rand.Rand) {
	t.Helper()
	// With a child: what is on its way from the head to the socket, where one
	// thread of many has to wait for a CPU. Real beats are further apart.
	v.loss = 500 * time.Millisecond
	switch r.IntN(4) {
	case 0: // the child, and a little later the parent
		syscall.Kill(v.child, syscall.SIGKILL)
		v.until(r.IntN(100))
		v.loss = 2 * time.Second
	case 1: // both
		syscall.Kill(v.child, syscall.SIGKILL)
		v.loss = 2 * time.Second
	}
	if err := v.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for v.lines.Scan() {
		v.note()
	}
	v.cmd.Wait() // it was killed
}

// mayLose reports whether a beat may be missing.
func (v *victim) mayLose(i int64) bool { return v.said[v.last].Sub(v.said[i]) <= v.loss }

// TestKill kills at random moments and checks that all is there but what came in
// the last 2 s, and of that only what no child had.
func TestKill(t *testing.T) {
	rounds := 20
	if n, err := strconv.Atoi(os.Getenv("STALLMARK_KILL_ROUNDS")); err == nil {
		rounds = n
	}
	killed(t, rounds)
}

// BenchmarkKill does the same 200 times: it fails if more than 2 s are lost.
func BenchmarkKill(b *testing.B) {
	for i := 0; i < b.N; i++ {
		beats, lost := killed(b, 200)
		b.ReportMetric(200, "kills/op")
		b.ReportMetric(float64(beats), "beats/op")
		b.ReportMetric(float64(lost), "lost-beats/op")
	}
}

// killed kills so many times.
func killed(t testing.TB, rounds int) (beats int64, lost int) {
	t.Helper()
	path := dbPath(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	gaps := map[int64]bool{} // beats that are missing, and those that no round has made
	for round := range rounds {
		v := startVictim(t, path, beats)
		v.until(1 + r.IntN(150))
		v.kill(t, r)
		beats = checkKilled(t, path, v, gaps)
		gaps[beats-1] = true
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
	return beats, len(gaps) - rounds
}

// checkKilled opens what was left behind, checks it, and returns the number of
// the next beat. Gaps are the beats that earlier rounds had lost.
func checkKilled(t testing.TB, path string, v *victim, gaps map[int64]bool) (next int64) {
	t.Helper()
	s := openTest(t, path)
	defer s.shut(t)
	got := selectAll(t, s.Store, 0, math.MaxInt64, "__name__", "beat")[`{__name__="beat"}`]
	at, lost := 0, 0
	for i := int64(0); i <= v.last; i++ {
		if at < len(got) && got[at] == (sample{base + i*1000, math.Float64bits(float64(i))}) {
			at++
			continue
		}
		if gaps[i] {
			continue
		}
		if !v.mayLose(i) {
			t.Errorf("beat %d of %d is missing", i, v.last)
			return 0
		}
		gaps[i] = true
		lost++
	}
	if at < len(got) {
		at++ // one that it had not said yet
	}
	if at < len(got) {
		t.Errorf("%d samples too many: %v", len(got)-at, got[at])
	}
	t.Logf("%d beats, %d lost", v.last, lost)
	return v.last + 2
}
