package process

import (
	"regexp"

	"stallmark/collectors"
)

// boxPath is where container runtimes put the cgroup of a container, by their
// drivers "cgroupfs" and "systemd", and in which only root can make groups. Below
// it a container's own init may have groups of its own.
var boxPath = regexp.MustCompile(`^/(?:docker/|system\.slice/docker-|kubepods(?:\.slice)?/(?:[^/]+/){0,2}(?:docker-|cri-containerd-|crio-)?)([0-9a-f]{64})(?:\.scope)?(?:/.*)?$`)

// boxOf is the id of the container that a process is in, empty if it is in none
// that is known by its cgroup.
func boxOf(root collectors.Root, w *watched) string {
	text, err := root.Read(w.dir+"cgroup", nil)
	if err != nil {
		return ""
	}
	paths := parseCgroup(string(text))
	if m := boxPath.FindStringSubmatch(paths.own()); m != nil {
		return m[1]
	}
	return ""
}
