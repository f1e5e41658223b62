package process

import "path"

// places works out where a broker has its data and its logs, from its
// configuration and the defaults of its product.
type places struct {
	c     command
	keys  map[string]string // allow-listed keys of its configuration
	known bool              // the configuration was read, or there is none: defaults hold
	cwd   string
	home  func() string // user.home, empty if not known
}

// store is the data folder whose disk matters: the commit log, the log
// directories, the transaction log. Empty if it cannot be told.
func (p *places) store(role string) string {
	switch role {
	case roleRocketBroker:
		return p.commitLog()
	case roleKafkaBroker, roleKafkaController:
		return absoluteList(firstOf(p.keys["log.dirs"], p.keys["log.dir"], p.keys["metadata.log.dir"], p.unset("/tmp/kafka-logs")), p.cwd)
	case roleZooKeeper:
		return absolute(firstOf(p.keys["dataLogDir"], p.keys["dataDir"], p.standalone()), p.cwd)
	}
	return ""
}

// commitLog is storePathCommitLog, else commitlog below storePathRootDir, which
// is ~/store.
func (p *places) commitLog() string {
	if dirs := p.keys["storePathCommitLog"]; dirs != "" {
		return absoluteList(dirs, p.cwd)
	}
	root := p.keys["storePathRootDir"]
	if home := p.home(); root == "" && p.known && home != "" {
		root = path.Join(home, "store")
	}
	if root = absolute(root, p.cwd); root != "" {
		return path.Join(root, "commitlog")
	}
	return ""
}

// standalone is the data folder of "QuorumPeerMain PORT DATADIR".
func (p *places) standalone() string {
	if len(p.c.args) >= 2 {
		return p.c.args[1]
	}
	return ""
}

// unset is a default, if it is certain that nothing else was configured.
func (p *places) unset(value string) string {
	if p.known {
		return value
	}
	return ""
}

// logs is the folder of the product's log files.
func (p *places) logs(role string) string {
	switch role {
	case roleRocketBroker, roleRocketNamesrv, roleRocketProxy:
		if home := p.home(); home != "" {
			return path.Join(home, "logs/rocketmqlogs")
		}
	case roleKafkaBroker, roleKafkaController:
		return absolute(p.c.property("kafka.logs.dir"), p.cwd)
	case roleZooKeeper:
		return absolute(firstOf(p.c.property("zookeeper.log.dir"), p.c.property("kafka.logs.dir")), p.cwd)
	}
	return ""
}

// logDir is the name of a RocketMQ broker's own log folder (since 4.9.3), a
// pattern where a part of it is not known: brokerName_brokerId, in a DLedger
// group brokerName_dLegerSelfId.
func (p *places) logDir() string {
	if dir := p.c.property("brokerLogDir"); dir != "" && kindWord.fits(dir) {
		return dir
	}
	if p.keys["isolateLogEnable"] != "true" {
		return ""
	}
	number := firstOf(p.keys["brokerId"], "0")
	if p.keys["enableDLegerCommitLog"] == "true" {
		number = firstOf(p.keys["dLegerSelfId"], "*")
	}
	return firstOf(p.keys["brokerName"], "*") + "_" + number
}
