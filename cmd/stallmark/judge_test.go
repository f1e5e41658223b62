package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"stallmark/rules"
)

// ownRule is a signature that always fires where memory is measured.
const ownRule = `
id: own-rule
title: TITLE
layer: cause
severity: info
needs: [node_memory_MemTotal_bytes]
when: node_memory_MemTotal_bytes > 0
for: 0s
what: It is there.
`

func writeRule(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestPackChange(t *testing.T) {
	dir := t.TempDir()
	load := func() *rules.Pack {
		pack, problems := rules.Load(dir)
		if m := rules.Mistakes(problems); len(m) > 0 {
			t.Fatal(m)
		}
		return pack
	}
	before := load()
	if got := packChange(before, load()); !strings.HasSuffix(got, " signatures as before") {
		t.Error(got)
	}
	writeRule(t, dir, "own-rule.yaml", strings.Replace(ownRule, "TITLE", "One", 1))
	one := load()
	if got := packChange(before, one); !strings.HasSuffix(got, " signatures: added own-rule") {
		t.Error(got)
	}
	writeRule(t, dir, "own-rule.yaml", strings.Replace(ownRule, "TITLE", "Two", 1))
	if got := packChange(one, load()); !strings.HasSuffix(got, " signatures: changed own-rule") {
		t.Error(got)
	}
	if got := packChange(one, before); !strings.HasSuffix(got, " signatures: removed own-rule") {
		t.Error(got)
	}
}

func TestReload(t *testing.T) {
	host, own := hostTree(t), t.TempDir()
	config := filepath.Join(t.TempDir(), "stallmark.yaml")
	configure := func(text string) {
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	configure("watch: [one]\n")
	writeRule(t, own, "own-rule.yaml", strings.Replace(ownRule, "TITLE", "Title one", 1))
	hangups := make(chan os.Signal, 1)
	s := serveWith(t, hangups, "--procfs", filepath.Join(host, "proc"), "--sysfs", filepath.Join(host, "sys"), "--rootfs", host,
		"--data", filepath.Join(t.TempDir(), "data"), "--config", config)
	until := func(what string, ok func() bool) {
		t.Helper()
		for !ok() {
			if t.Context().Err() != nil {
				t.Fatal(what)
			}
		}
	}
	said := func(text string) func() bool {
		return func() bool {
			return slices.ContainsFunc(s.logged(), func(line string) bool { return strings.Contains(line, text) })
		}
	}
	finding := func(text string) func() bool {
		return func() bool { return strings.Contains(s.get("/api/v1/findings"), text) }
	}
	if finding("Title one")() {
		t.Fatal("the rule is there before it was configured")
	}

	configure("watch: [two]\nrules: [" + own + "]\n")
	hangups <- unix.SIGHUP
	until("no reload", said("added own-rule"))
	if !said("after a restart: watch")() {
		t.Errorf("the changed option is not said: %q", s.logged())
	}
	until("the new rule does not fire", finding("Title one"))

	writeRule(t, own, "own-rule.yaml", strings.Replace(ownRule, "TITLE", "Title two", 1))
	hangups <- unix.SIGHUP
	until("no second reload", said("changed own-rule"))
	until("the changed rule does not fire", finding("Title two"))
	if finding("Title one")() {
		t.Error("a second finding instead of the one that went on")
	}

	if err := os.Mkdir(filepath.Join(own, "patterns"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeRule(t, filepath.Join(own, "patterns"), "bad.yaml", "id: bad\nnonsense: 1\n")
	hangups <- unix.SIGHUP
	until("a mistake in a pattern is not said", said("mistakes: "))

	configure("rules: [" + filepath.Join(own, "gone") + "]\n")
	hangups <- unix.SIGHUP
	until("no refusal", said("nothing is changed"))
	if !strings.Contains(s.get("/signatures"), "Title two") {
		t.Error("a bad configuration took the rules away")
	}
	s.quit()
}

func TestDiffering(t *testing.T) {
	a, b := newOptions(), newOptions()
	b.rules = []string{"x"} // taken over
	b.duration = time.Minute
	if got := a.differing(b); len(got) > 0 {
		t.Errorf("%q differ", got)
	}
	b.interval, b.noBurst, b.watch = 2*time.Second, true, []string{"w"}
	if got := a.differing(b); !slices.Equal(got, []string{"interval", "watch", "no-burst"}) {
		t.Errorf("%q differ", got)
	}
}

func TestOneBeatOfEachIntervalIsJudged(t *testing.T) {
	s := &service{view: slowView{interval: time.Second}}
	s.stepper = newStepper(nil)
	var judged []int
	for _, ms := range []int{0, 100, 200, 900, 980, 1050, 1100, 2000, 3400, 4001} {
		s.afterBeat(epoch.Add(time.Duration(ms) * time.Millisecond))
		select {
		case at := <-s.stepper.latest:
			judged = append(judged, int(at.Sub(epoch).Milliseconds()))
		default:
		}
	}
	if want := []int{0, 980, 2000, 3400, 4001}; !slices.Equal(judged, want) {
		t.Errorf("judged beats %v, want %v", judged, want)
	}
}

func TestStepperDoesThingsBetweenJudgements(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		free := make(chan bool)
		judging := false
		s := newStepper(func(context.Context, time.Time) { judging = true; <-free; judging = false })
		go s.run(ctx)
		s.poke(time.Now())
		synctest.Wait()
		done := 0
		for range 3 {
			s.do(func() {
				if done++; judging {
					t.Error("done while the rules judge")
				}
			})
		}
		free <- true
		synctest.Wait()
		if done != 1 {
			t.Errorf("done %d times, want once for all that were asked while busy", done)
		}
	})
}
