package process

import (
	"strings"
	"unicode"
)

// valueKind says what the value of an allowed flag or key must look like. What
// does not is dropped: a secret in the wrong place stays out too.
type valueKind int

const (
	kindNumber valueKind = iota // 12, 0.75, -1
	kindSize                    // 8g
	kindWord                    // ASYNC_FLUSH; letters, digits and . , _ -
	kindPath                    // a file or folder, or several with commas
)

// Of command lines and configuration files only what stands in these tables is
// kept; all else (passwords, JAAS, tokens, addresses) is dropped at once.

// keptXX are options -XX:+Name, -XX:-Name and -XX:Name=value.
var keptXX = kinds(map[valueKind]string{
	kindNumber: `AlwaysPreTouch UseG1GC UseParallelGC UseParallelOldGC UseConcMarkSweepGC UseParNewGC UseSerialGC UseZGC ZGenerational
		UseShenandoahGC UseLargePages UseTransparentHugePages UseNUMA UseBiasedLocking UseCompressedOops PerfDisableSharedMem UsePerfData
		DisableExplicitGC ExplicitGCInvokesConcurrent UseStringDeduplication PrintGCDetails PrintGCDateStamps PrintGCTimeStamps
		PrintGCApplicationStoppedTime PrintGCApplicationConcurrentTime PrintSafepointStatistics PrintAdaptiveSizePolicy
		PrintTenuringDistribution UseGCLogFileRotation NumberOfGCLogFiles MaxGCPauseMillis InitiatingHeapOccupancyPercent G1ReservePercent
		G1NewSizePercent G1MaxNewSizePercent G1MixedGCCountTarget G1HeapWastePercent ConcGCThreads ParallelGCThreads
		ParallelRefProcEnabled SurvivorRatio NewRatio MaxTenuringThreshold MaxRAMPercentage InitialRAMPercentage MinRAMPercentage MaxRAMFraction
		SoftRefLRUPolicyMSPerMB CMSInitiatingOccupancyFraction UseCMSInitiatingOccupancyOnly CMSParallelRemarkEnabled
		CMSScavengeBeforeRemark GuaranteedSafepointInterval HeapDumpOnOutOfMemoryError ExitOnOutOfMemoryError CrashOnOutOfMemoryError
		UseContainerSupport ActiveProcessorCount ZCollectionInterval ZAllocationSpikeTolerance ZUncommit UseCountedLoopSafepoints
		MaxInlineLevel OmitStackTraceInFastThrow`,
	kindSize: `MaxDirectMemorySize G1HeapRegionSize MetaspaceSize MaxMetaspaceSize PermSize MaxPermSize GCLogFileSize MaxHeapSize
		InitialHeapSize NewSize MaxNewSize SoftMaxHeapSize LargePageSizeInBytes ReservedCodeCacheSize CompressedClassSpaceSize ThreadStackSize`,
	kindWord: `ShenandoahGCHeuristics ShenandoahGCMode`,
	kindPath: `HeapDumpPath ErrorFile`,
})

// keptX are options that begin with -X and have their value right behind.
var keptX = []struct {
	prefix string
	kind   valueKind
}{
	{"Xms", kindSize},
	{"Xmx", kindSize},
	{"Xmn", kindSize},
	{"Xss", kindSize},
	{"Xloggc:", kindPath},
	{"Xlog:", kindPath},
	{"Xlog", kindPath},
}

// keptD are system properties, -Dname=value.
var keptD = kinds(map[valueKind]string{
	kindPath: `user.home java.io.tmpdir rocketmq.home.dir rocketmq.log.root rocketmq.client.logRoot rmq.logback.configurationFile
		kafka.logs.dir zookeeper.log.dir zookeeper.dataDir zookeeper.dataLogDir`,
	kindWord: `zookeeper.log.file zookeeper.forceSync zookeeper.observer.syncEnabled brokerLogDir`,
	kindNumber: `rocketmq.broker.diskSpaceWarningLevelRatio rocketmq.broker.diskSpaceCleanForciblyRatio fsync.warningthresholdms
		zookeeper.fsync.warningthresholdms zookeeper.preAllocSize zookeeper.snapCount zookeeper.commitLogCount jute.maxbuffer
		jdk.nio.maxCachedBufferSize`,
})

// rocketKeys are of broker.conf (MessageStoreConfig, BrokerConfig) and
// rmq-proxy.json.
var rocketKeys = kinds(map[valueKind]string{
	kindWord: `brokerName brokerClusterName brokerRole flushDiskType deleteWhen proxyMode rocketMQClusterName storeType dLegerSelfId
		dLegerGroup isolateLogEnable`,
	kindPath: `storePathRootDir storePathCommitLog storePathConsumeQueue storePathIndex storePathDLedgerCommitLog rocketmqHome`,
	kindNumber: `brokerId listenPort warmMapedFileEnable warmMappedFileEnable flushLeastPagesWhenWarmMapedFile transientStorePoolEnable
		transientStorePoolSize fastFailIfNoBufferInStorePool osPageCacheBusyTimeOutMills useReentrantLockWhenPutMessage flushCommitLogTimed
		flushIntervalCommitLog flushCommitLogLeastPages flushCommitLogThoroughInterval commitIntervalCommitLog commitCommitLogLeastPages
		commitCommitLogThoroughInterval flushIntervalConsumeQueue flushConsumeQueueLeastPages maxTransferBytesOnMessageInMemory
		maxTransferCountOnMessageInMemory maxTransferBytesOnMessageInDisk maxTransferCountOnMessageInDisk accessMessageInMemoryMaxRatio
		diskMaxUsedSpaceRatio diskSpaceWarningLevelRatio diskSpaceCleanForciblyRatio mappedFileSizeCommitLog mapedFileSizeCommitLog
		mappedFileSizeConsumeQueue fileReservedTime deleteCommitLogFilesInterval cleanResourceInterval deleteFileBatchMax
		destroyMapedFileIntervalForcibly syncFlushTimeout slaveTimeout putMessageTimeout haHousekeepingInterval haSlaveFallbehindMax
		haMaxGapNotInSync coldDataFlowControlEnable coldDataScanEnable dataReadAheadEnable timerWarmEnable enableDLegerCommitLog
		maxAsyncPutMessageRequests writeWithoutMmap sendMessageThreadPoolNums pullMessageThreadPoolNums sendThreadPoolQueueCapacity
		pullThreadPoolQueueCapacity waitTimeMillsInSendQueue waitTimeMillsInPullQueue waitTimeMillsInHeartbeatQueue
		waitTimeMillsInTransactionQueue brokerFastFailureEnable slaveReadEnable transferMsgByHeap disableConsumeIfConsumerReadSlowly
		consumerFallbehindThreshold cgColdReadThreshold globalColdReadThreshold maxMessageSize debugLockEnable duplicationEnable
		enableSlaveActingMaster enableControllerMode inSyncReplicas minInSyncReplicas`,
})

// kafkaKeys are of server.properties.
var kafkaKeys = kinds(map[valueKind]string{
	kindWord: `process.roles compression.type inter.broker.protocol.version log.message.format.version cleanup.policy log.cleanup.policy`,
	kindPath: `log.dirs log.dir metadata.log.dir`,
	kindNumber: `node.id broker.id log.flush.interval.messages log.flush.interval.ms log.flush.scheduler.interval.ms
		log.flush.offset.checkpoint.interval.ms log.flush.start.offset.checkpoint.interval.ms
		replica.high.watermark.checkpoint.interval.ms num.io.threads num.network.threads background.threads queued.max.requests
		num.replica.fetchers replica.lag.time.max.ms replica.socket.timeout.ms request.timeout.ms replica.fetch.wait.max.ms
		replica.fetch.max.bytes fetch.max.bytes socket.send.buffer.bytes socket.receive.buffer.bytes socket.request.max.bytes
		log.segment.bytes log.roll.ms log.roll.hours log.retention.ms log.retention.minutes log.retention.hours log.retention.bytes
		log.segment.delete.delay.ms log.index.size.max.bytes log.index.interval.bytes log.preallocate num.recovery.threads.per.data.dir
		min.insync.replicas default.replication.factor num.partitions log.cleaner.enable log.cleaner.threads
		log.cleaner.io.max.bytes.per.second log.dir.failure.timeout.ms zookeeper.session.timeout.ms broker.session.timeout.ms
		broker.heartbeat.interval.ms metadata.max.idle.interval.ms controller.quorum.election.timeout.ms
		controller.quorum.fetch.timeout.ms controller.quorum.request.timeout.ms remote.log.storage.system.enable message.max.bytes`,
})

// zooKeys are of zoo.cfg.
var zooKeys = kinds(map[valueKind]string{
	kindPath: `dataDir dataLogDir`,
	kindWord: `forceSync snapshot.trust.empty standaloneEnabled`,
	kindNumber: `tickTime initLimit syncLimit clientPort maxClientCnxns autopurge.snapRetainCount autopurge.purgeInterval preAllocSize snapCount
		globalOutstandingLimit fsync.warningthresholdms minSessionTimeout maxSessionTimeout commitLogCount snapSizeLimitInKb`,
})

// kinds turns lists of names into a table.
func kinds(lists map[valueKind]string) map[string]valueKind {
	table := map[string]valueKind{}
	for kind, names := range lists {
		for name := range strings.FieldsSeq(names) {
			table[name] = kind
		}
	}
	return table
}

// maxValue is the longest value that is kept.
const maxValue = 512

// fits reports whether a value looks like its kind.
func (k valueKind) fits(v string) bool {
	if v == "" || len(v) > maxValue {
		return false
	}
	switch k {
	case kindNumber:
		return v == "true" || v == "false" || only(v, "0123456789.-")
	case kindSize:
		return only(v, "0123456789kKmMgGtT")
	case kindWord:
		return len(v) <= maxName && only(v, letters+"0123456789.,_-")
	case kindPath:
		return !strings.Contains(v, "://") && strings.IndexFunc(v, notInPath) < 0
	}
	return false
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

func only(v, chars string) bool { return strings.Trim(v, chars) == "" }

// notInPath rejects what no sensible path has: controls, quotes, brackets.
func notInPath(r rune) bool {
	return r == unicode.ReplacementChar || !unicode.IsPrint(r) || strings.ContainsRune("\"'`<>|;&\\", r)
}
