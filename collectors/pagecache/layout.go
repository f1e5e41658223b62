package pagecache

import (
	"path"
	"strings"
)

// Kind says what a data file is for: the label kind of the series.
type Kind string

// The kinds. A commit log holds RocketMQ's messages of all topics; a log one
// partition's messages of Kafka, or ZooKeeper's transactions.
const (
	CommitLog    Kind = "commitlog"
	ConsumeQueue Kind = "consumequeue"
	Index        Kind = "index"
	Log          Kind = "log"
	Other        Kind = "other"
)

// place is a kind of folder in the store of a broker: what names are expected
// in it.
type place uint8

const (
	nowhere        place = iota
	rocketRoot           // storePathRootDir
	rocketDLedger        // dledger-<id> below it
	rocketTopics         // a folder for every topic
	rocketQueues         // a folder for every queue of a topic
	rocketFiles          // segments named by their first offset
	rocketIndex          // index files named by their time
	kafkaLogs            // one of log.dirs: a folder for every partition
	kafkaPartition       // its segments and their indexes
	zooData              // dataDir or dataLogDir
	zooFiles             // version-2 below it
)

// folder is a folder to list, its path relative to the store.
type folder struct {
	path  string
	place place
	kind  Kind // of the files in it, where the place does not say
}

// dataFile is a data file by its name alone.
type dataFile struct {
	path   string // relative to the store
	kind   Kind
	series string // files of one series follow each other
	number string // and are ordered by this, of equal length or hexadecimal
	rank   int    // 0 for the newest of its series; set by the inventory
	ahead  int    // how many files of the series, the newest, are in use or made ready
}

// classify tells what a name in a folder is: a folder to list as well, a data
// file, or (both false) nothing of a broker's.
func (f folder) classify(name string) (sub folder, file dataFile, isFolder, isFile bool) {
	if !plainName(name) {
		return
	}
	sub.path = path.Join(f.path, name)
	file = dataFile{path: sub.path, kind: f.kind, series: f.path, number: name, ahead: 1}
	switch f.place {
	case rocketRoot:
		if name == "timerwheel" {
			return sub, file, false, true
		}
		sub.place, sub.kind = rocketFolder(name)
	case rocketDLedger:
		sub.place, sub.kind = map[string]place{"data": rocketFiles, "index": rocketFiles}[name], Index
		if name == "data" {
			sub.kind = CommitLog
		}
	case rocketTopics:
		sub.place, sub.kind = rocketQueues, f.kind
	case rocketQueues:
		if allDigits(name) {
			sub.place, sub.kind = rocketFiles, f.kind
		}
	case rocketFiles:
		if f.kind == CommitLog {
			file.ahead = 2 // the next file is made before it is needed
		}
		isFile = len(name) == offsetDigits && allDigits(name)
	case rocketIndex:
		isFile = len(name) == timeDigits && allDigits(name)
	case kafkaLogs:
		if _, number, ok := cutLast(livingFolder(name), "-"); ok && allDigits(number) {
			sub.place = kafkaPartition
		}
	case kafkaPartition:
		isFile = file.kafka(name)
	case zooData:
		if name == "version-2" {
			sub.place = zooFiles
		}
	case zooFiles:
		isFile = file.zoo(name)
	}
	return sub, file, sub.place != nowhere, isFile
}

// Lengths of the names of segments (zero-padded offsets, both products) and of
// RocketMQ's index files (yyyyMMddHHmmssSSS).
const (
	offsetDigits = 20
	timeDigits   = 17
)

// rocketFolder is what a folder of RocketMQ's store root holds.
func rocketFolder(name string) (place, Kind) {
	switch name {
	case "commitlog":
		return rocketFiles, CommitLog
	case "consumequeue", "batchconsumequeue", "consumequeue_ext":
		return rocketTopics, ConsumeQueue
	case "index":
		return rocketIndex, Index
	case "timerlog":
		return rocketFiles, Other
	}
	if strings.HasPrefix(name, "dledger-") {
		return rocketDLedger, ""
	}
	return nowhere, ""
}

// kafka reads a name like 00000000000000000000.timeindex; one that waits for
// its deletion has .deleted behind it.
func (f *dataFile) kafka(name string) bool {
	number, suffix, _ := strings.Cut(strings.TrimSuffix(name, deletedSuffix), ".")
	if len(number) != offsetDigits || !allDigits(number) {
		return false
	}
	switch suffix {
	case "log":
		f.kind = Log
	case "index", "timeindex", "txnindex":
		f.kind = Index
	case "snapshot":
		f.kind = Other
	default:
		return false
	}
	f.number, f.series = number, f.series+"/*."+suffix
	return true
}

// zoo reads log.1a2b and snapshot.1a2b, the number being a transaction in
// hexadecimal without leading zeros.
func (f *dataFile) zoo(name string) bool {
	what, number, _ := strings.Cut(name, ".")
	if number == "" || len(number) > 16 || strings.Trim(number, "0123456789abcdef") != "" {
		return false
	}
	switch what {
	case "log":
		f.kind = Log
	case "snapshot":
		f.kind = Other
	default:
		return false
	}
	f.number, f.series = number, f.series+"/"+what
	return true
}

// older orders the numbers of a series.
func older(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

// deletedSuffix is what Kafka renames a file to, a minute before it unlinks it.
const deletedSuffix = ".deleted"

// livingName is the path that a file had before Kafka renamed it or its folder
// for deletion: TOPIC-0.<32 hexadecimal digits>-delete.
func livingName(name string) string {
	dir, base := path.Split(name)
	base = strings.TrimSuffix(base, deletedSuffix)
	if dir == "" {
		return base
	}
	return path.Join(livingFolder(path.Clean(dir)), base)
}

func livingFolder(name string) string {
	rest, ok := strings.CutSuffix(name, "-delete")
	if !ok {
		return name
	}
	living, id, ok := cutLast(rest, ".")
	if !ok || len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" {
		return name
	}
	return living
}

// plainName reports whether the name of a file or folder has only what topics
// may have: letters, digits, and . _ - % |. Names are text of strangers.
func plainName(name string) bool {
	if name == "" || len(name) > 255 || name[0] == '.' {
		return false
	}
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case c == '.', c == '_', c == '-', c == '%', c == '|':
		default:
			return false
		}
	}
	return true
}

// allDigits reports whether s is a decimal number.
func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// cutLast cuts around the last sep.
func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
