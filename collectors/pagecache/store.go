package pagecache

import (
	"path"
	"slices"
	"strings"

	"stallmark/collectors/process"
)

// Broker is a watched process whose data files are looked at.
type Broker struct {
	ID      process.ID
	Process string // its name, the label process
	Role    string // as in stallmark_process_info
	// Store is where its data is as it sees it, the fact process.<pid>.store:
	// absolute folders, comma-separated when there are several. Empty if it is
	// not known.
	Store string
}

// store is one folder of a broker with data files somewhere below it.
type store struct {
	dir   string // absolute
	first folder
}

// stores takes apart where a broker has its data. Of RocketMQ the commit log is
// known; what lies beside it in the usual layout is found with it.
func (b Broker) stores() []store {
	var all []store
	for _, dir := range strings.Split(b.Store, ",") {
		if !strings.HasPrefix(dir, "/") {
			continue
		}
		s := b.storeAt(path.Clean(dir))
		if s.first.place != nowhere && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

func (b Broker) storeAt(dir string) store {
	rocket := strings.HasPrefix(b.Role, "rocketmq-") || path.Base(dir) == "commitlog"
	switch {
	case rocket && path.Base(dir) == "commitlog" && path.Dir(dir) != "/":
		return store{path.Dir(dir), folder{place: rocketRoot, kind: Other}}
	case rocket:
		return store{dir, folder{place: rocketFiles, kind: CommitLog}}
	case b.Role == "zookeeper":
		return store{dir, folder{place: zooData}}
	}
	return store{dir, folder{place: kafkaLogs}}
}
