package process

import (
	"strings"
	"testing"

	"stallmark/collectors"
)

func TestContainerByItsCgroup(t *testing.T) {
	id := strings.Repeat("0123456789abcdef", 4)
	for cgroup, want := range map[string]string{
		"0::/docker/" + id:                              id,
		"0::/system.slice/docker-" + id + ".scope":      id,
		"0::/system.slice/docker-" + id + ".scope/init": id,
		"0::/kubepods/burstable/pod12/" + id:            id,
		"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod12.slice/cri-containerd-" + id + ".scope": id,
		"4:memory:/kubepods/pod12/" + id + "\n1:name=systemd:/x":                                                     id,
		"0::/":                     "",
		"0::/system.slice/a.scope": "",
		"0::/user.slice/user-1000.slice/user@1000.service/docker-" + id + ".scope": "", // made by a user
		"0::/docker/../../etc": "",
		"0::/docker/" + id[1:]: "",
	} {
		root := &collectors.MapRoot{Files: map[string][]byte{"proc/7/cgroup": []byte(cgroup + "\n")}}
		if got := boxOf(root, &watched{dir: "proc/7/"}); got != want {
			t.Errorf("%s: got %q, want %q", cgroup, got, want)
		}
	}
}
