package web_test

import (
	"strings"
	"testing"
)

// TestChangedSettingsAndTheirEffects: what was set back during a stall is
// compared; what was set minutes before is listed without.
func TestChangedSettingsAndTheirEffects(t *testing.T) {
	for _, path := range []string{"/findings/f-dirty", "/incidents/f-dirty"} {
		got := text(find(show(t, scene(t, "mended")).page(t, path), "changes")...)
		back, before, found := strings.Cut(got, "03:09:04")
		if !found || !strings.Contains(before, "vm.dirty_ratio 20 → 50") || strings.Contains(before, "MiB") {
			t.Errorf("%s: the older change is %q", path, before)
		}
		for _, want := range []string{"03:13:34 vm.dirty_ratio 50 → 20", "Threads asleep in balance_dirty_pages", "→ 0 gone"} {
			if !strings.Contains(back, want) {
				t.Errorf("%s: the change that helped does not say %q: %q", path, want, back)
			}
		}
	}
}

// TestMarksAreNamed finds every mark of a chart in the list below it.
func TestMarksAreNamed(t *testing.T) {
	for _, path := range []string{"/", "/disks", "/status", "/findings/f-dirty", "/incidents/f-dirty"} {
		for _, c := range find(show(t, scene(t, "stalling")).page(t, path), "chart") {
			marks, lists := find(c, "moment"), find(c, "marked")
			if len(marks) != 1 || len(lists) != 1 {
				t.Fatalf("%s: %s: %d marks, %d lists", path, attr(c, "id"), len(marks), len(lists))
			}
			if attr(marks[0], "href") != "#"+attr(lists[0], "id") || !strings.Contains(attr(marks[0], "aria-label"), "A, 03:09:04: vm.dirty_ratio 20 → 50") {
				t.Errorf("%s: a mark is %v", path, marks[0].Attr)
			}
			if !strings.Contains(text(lists...), "A 03:09:04 vm.dirty_ratio 20 → 50") {
				t.Errorf("%s: the list is %q", path, text(lists...))
			}
		}
	}
}
