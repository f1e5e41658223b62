package drill

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stallmark/cmd/stalldrill/host"
	"stallmark/cmd/stalldrill/work"
)

// machines are facts of unlike machines.
func machines() map[string]Facts {
	h := host.Host{Proc: "/p", Sys: "/s", Sysctls: "/p/sys"}
	big := Facts{
		Host: h, Folder: "/d/stalldrill-1", Scale: 1, Leave: 6 * gib, Dirty: 4 * gib,
		Memory: host.Memory{Total: 24 * gib, Free: 12 * gib, Available: 20 * gib, High: 100 * mib},
		Group:  host.Cgroups{Version: 1, Parent: "/s/fs/cgroup/memory"},
	}
	small := big
	small.Scale, small.Leave, small.Dirty, small.Group.Version = 0.25, 1*gib, 0, 2
	small.Memory = host.Memory{Total: 4 * gib, Free: 1 * gib, Available: 3 * gib, High: 20 * mib}
	return map[string]Facts{"24 GiB, cgroup v1": big, "4 GiB, cgroup v2, little disk": small}
}

func TestPlansKeepTheirBounds(t *testing.T) {
	for name, f := range machines() {
		for _, m := range Modes() {
			p := m.Plan(f)
			room := int64(float64(m.Disk) * f.Scale)
			if got := work.Disk(p.Specs()) + p.Swap; got > room+64*mib {
				t.Errorf("%s, %s: files take %s of %s", name, m.Name, bytesText(got), bytesText(room))
			}
			if got := work.Memory(p.Specs()); got > f.Memory.Available/3 {
				t.Errorf("%s, %s: takes %s of memory", name, m.Name, bytesText(got))
			}
			if len(p.Limits) > 0 != (m.Group != "") {
				t.Errorf("%s: limits %v with controller %q", m.Name, p.Limits, m.Group)
			}
			for _, s := range p.Settings {
				if !strings.HasPrefix(s.Path, f.Host.Sysctls) && !strings.HasPrefix(s.Path, f.Host.Sys) {
					t.Errorf("%s: setting %s is elsewhere", m.Name, s.Path)
				}
			}
			for _, spec := range p.Specs() {
				for _, task := range spec.Tasks {
					checkTask(t, m.Name, f, spec, task)
				}
			}
		}
	}
}

func checkTask(t *testing.T, mode string, f Facts, spec work.Spec, task work.Task) {
	t.Helper()
	if task.Path != "" && filepath.Dir(task.Path) != f.Folder {
		t.Errorf("%s: %s works outside of the folder, at %s", mode, task.Name, task.Path)
	}
	if task.Name == "" || len(task.Name) > 15 {
		t.Errorf("%s: %q is no name of a thread", mode, task.Name)
	}
	if spec.Name == LoadName && (spec.OOM != 1000 || !task.Late) {
		t.Errorf("%s: load %s is not first in line for the OOM killer, or begins before the drill", mode, task.Name)
	}
	if task.Do == work.Eat && task.Floor < f.Leave {
		t.Errorf("%s: eats below what must be left", mode)
	}
	if (task.Do == work.FillCache || task.Do == work.Fragment) && task.Floor < f.Memory.High {
		t.Errorf("%s: fills memory below the watermark", mode)
	}
}

func TestModesAreToldApart(t *testing.T) {
	var names []string
	for _, m := range Modes() {
		names = append(names, m.Name)
		if m.Summary == "" || len(m.Signs) == 0 || m.Disk < victimDisk {
			t.Errorf("%s: no summary, no sign or no room for its victim", m.Name)
		}
		if m.Harmless && len(m.Truth)+len(m.Also) > 0 {
			t.Errorf("%s: harmless, and causes %v", m.Name, m.Truth)
		}
	}
	want := []string{
		"dirty-throttling", "writeback-churn", "direct-reclaim", "memcg-reclaim", "cold-read", "cold-mmap", "unwarmed-mmap",
		"swap-in", "thp-compaction", "tlb-shootdown", "odirect", "cpu-quota", "fsync-storm", "freeze",
		"background", "copy", "compile", "idle",
	}
	slices.Sort(names)
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

// The twins are harmless by arithmetic, not by luck: what they can dirty stays
// below the level at which writers are paused.
func TestTwinsStayBelowTheCeiling(t *testing.T) {
	for name, f := range machines() {
		dirty := work.Disk(background().Plan(f).Specs())
		if ceiling := int64(4*gib+256*mib) / 2; dirty > ceiling {
			t.Errorf("%s: background can dirty %s, the ceiling is %s", name, bytesText(dirty), bytesText(ceiling))
		}
		copied := copying().Plan(f).Loads[0].Tasks[0].Size
		if f.Dirty > 0 && copied > f.Dirty/2 {
			t.Errorf("%s: copy can dirty %s of %s", name, bytesText(copied), bytesText(f.Dirty))
		}
	}
}

func TestRoom(t *testing.T) {
	l := Limits{LeaveDisk: 5 * gib}
	for _, c := range []struct{ free, most, want int64 }{
		{60 * gib, 0, 20 * gib},      // a third
		{6 * gib, 0, 1 * gib},        // 5 GiB stay free
		{5 * gib, 0, 0},              // nothing left
		{1 * gib, 0, 0},              // less than must stay
		{60 * gib, 2 * gib, 2 * gib}, // as told
		{60 * gib, 50 * gib, 20 * gib},
	} {
		l.MaxDisk = c.most
		if got := l.room(c.free); got != c.want {
			t.Errorf("%s free, at most %s: got %s, want %s", bytesText(c.free), bytesText(c.most), bytesText(got), bytesText(c.want))
		}
	}
	if got := DefaultLimits(24 * gib).LeaveMemory; got != 6*gib {
		t.Errorf("leaves %s of 24 GiB", bytesText(got))
	}
	if got := DefaultLimits(2 * gib).LeaveMemory; got != 1*gib {
		t.Errorf("leaves %s of 2 GiB", bytesText(got))
	}
}

func TestCheckRefuses(t *testing.T) {
	f := machines()["24 GiB, cgroup v1"]
	dir := t.TempDir()
	f.Group.Parent = dir
	missing := filepath.Join(dir, "missing")
	for name, c := range map[string]struct {
		plan Plan
		want string
	}{
		"nothing":               {Plan{}, ""},
		"memory":                {Plan{Victim: []work.Task{{Do: work.Anon, Size: 15 * gib}}}, "memory is too short"},
		"a setting":             {Plan{Settings: []Setting{{Path: missing, Value: "1"}}}, "missing"},
		"one that may be lacks": {Plan{Settings: []Setting{{Path: missing, Value: "1", IfThere: true}}}, ""},
		"a group":               {Plan{Limits: []Setting{{Path: "cpu.max"}}}, ""},
	} {
		err := c.plan.check(f)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	f.Group.Parent = missing
	if err := (Plan{Limits: []Setting{{Path: "cpu.max"}}}).check(f); err == nil {
		t.Error("a control group that cannot be made is not refused")
	}
}

func TestSurveyRefusesAFullDisk(t *testing.T) {
	m := Mode{Disk: 1 << 60}
	if _, err := Survey(host.Live(), m, t.TempDir(), Limits{AnyDisk: true}); err == nil || !strings.Contains(err.Error(), "too full") {
		t.Errorf("got %v", err)
	}
}

func TestJudge(t *testing.T) {
	from := host.Counters{"a": 10, "b": 0}
	to := host.Counters{"a": 30, "b": 0}
	for name, c := range map[string]struct {
		sign  Sign
		holds bool
	}{
		"enough":        {Sign{Counter: "a", AtLeast: 10}, true},
		"too little":    {Sign{Counter: "a", AtLeast: 11}, false},
		"none":          {Sign{Counter: "b", None: true}, true},
		"some for none": {Sign{Counter: "a", None: true}, false},
		"not counted":   {Sign{Counter: "c", None: true}, false},
	} {
		seen, all := judge([]Sign{c.sign}, from, to, 2)
		if all != c.holds || seen[0].Holds != c.holds {
			t.Errorf("%s: got %+v", name, seen[0])
		}
	}
}
