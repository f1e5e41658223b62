package gallery

import "stallmark/rules/audit"

// audited is an audit with a result of every state.
func audited() []audit.Result {
	broker := map[string]string{"process": "rocketmq-broker", "pid": "4242"}
	return []audit.Result{
		{
			ID: "dirty-limits", Title: "How much unwritten data may gather", Area: audit.Kernel, State: audit.Warn,
			Current: "background 2.75 GiB, limit 5.5 GiB (vm.dirty_background_ratio=50, vm.dirty_ratio=50)",
			Says:    "2.75 GiB gather before the flusher starts. A disk that writes 250 MiB/s needs eleven seconds for that, and a burst meets the whole backlog.",
			Advice: &audit.Advice{
				Change: "Start writing at 256 MiB and pause writers only near 4 GiB, for 16 GiB of memory.", Command: "sysctl -w vm.dirty_background_bytes=268435456 vm.dirty_bytes=4294967296",
				Persist: "# /etc/sysctl.d/90-stallmark.conf\nvm.dirty_background_bytes = 268435456\nvm.dirty_bytes = 4294967296", Rollback: "sysctl -w vm.dirty_background_ratio=50 vm.dirty_ratio=50",
				Risk: "The disk writes earlier and more evenly; data that is overwritten within seconds is written more often.",
			},
			Why: "From half way between the background limit and the limit every writer is put to sleep, the broker's threads too.", Source: "kernel Documentation/admin-guide/sysctl/vm.rst",
		},
		{
			ID: "read-ahead", Title: "How much is read ahead", Area: audit.Kernel, State: audit.Advise, Subject: map[string]string{"device": "nvme1n1"},
			Current: "read_ahead_kb=8192", Says: "Each cold read may pull 8192 KiB.",
			Advice: &audit.Advice{
				Change: "Read 512 KiB ahead.", Command: "echo 512 > /sys/block/nvme1n1/queue/read_ahead_kb", Rollback: "echo 8192 > /sys/block/nvme1n1/queue/read_ahead_kb",
				Persist: "# /etc/udev/rules.d/60-stallmark.rules\nACTION==\"add|change\", KERNEL==\"nvme1n1\", ATTR{queue/read_ahead_kb}=\"512\"", Risk: "Long sequential reads may become slower.",
			},
			Why: "With megabytes, a few lagging consumers saturate the disk.", Source: "kernel Documentation/ABI/stable/sysfs-block",
		},
		{ID: "swappiness", Title: "Swapping against dropping cache", Area: audit.Kernel, State: audit.OK, Current: "vm.swappiness=1", Says: "The broker's heap stays in memory."},
		{ID: "laptop-mode", Title: "Laptop mode", Area: audit.Kernel, State: audit.OK, Current: "vm.laptop_mode=0", Says: "Off."},
		{ID: "cgroup-cpu", Title: "CPU quota of the broker's group", Area: audit.Kernel, State: audit.Absent, Says: "The broker's group has no quota."},
		{
			ID: "warm-mapped-file", Title: "Warming of new commit log files", Area: audit.RocketMQ, State: audit.Unknown, Subject: broker,
			Says: "broker.conf could not be read: permission denied.", Mend: "run with CAP_DAC_READ_SEARCH, or as the broker's user",
			Why: "A file that is not warmed is filled page by page on the append path.", Source: "RocketMQ store/MappedFile",
		},
		{ID: "heap", Title: "Heap size", Area: audit.JVM, State: audit.OK, Subject: broker, Current: "-Xms8g -Xmx8g", Says: "Fixed, so it does not grow under load."},
		{ID: "log-dirs", Title: "Log folders", Area: audit.Kafka, State: audit.Absent, Says: "No Kafka broker is running here."},
	}
}
