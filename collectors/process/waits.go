package process

// Groups of kernel functions in which a thread can be seen waiting: the label
// wait of stallmark_blocked_threads.
const (
	waitDirtyThrottle = "dirty_throttle"
	waitReclaim       = "reclaim"
	waitMemcgReclaim  = "memcg_reclaim"
	waitPage          = "page_wait"
	waitPageMkwrite   = "page_mkwrite"
	waitFileFault     = "file_fault"
	waitJournal       = "journal"
	waitFsync         = "fsync"
	waitBlockQueue    = "block_queue"
	waitSwapIn        = "swap_in"
	waitCompaction    = "compaction"
	waitMmapLock      = "mmap_lock"
	waitInodeLock     = "inode_lock"
	waitOther         = "other"
)

// waitGroups lists the groups in the order in which their series are given.
var waitGroups = [...]string{
	waitDirtyThrottle, waitReclaim, waitMemcgReclaim, waitPage, waitPageMkwrite, waitFileFault, waitJournal,
	waitFsync, waitBlockQueue, waitSwapIn, waitCompaction, waitMmapLock, waitInodeLock, waitOther,
}

// waitRule says which stacks belong to a group. Stacks are innermost first. A
// rule holds if a function of it is in the stack (with top: is its innermost)
// and, where under is given, a function of under stands further out.
type waitRule struct {
	wait  string
	fn    []string // exact, or with a * at either end
	top   bool
	under []string
	// asleep says that the place tells of a wait only in a thread that does not
	// run: others pass there at work.
	asleep bool
}

// waitRules are tried in order, the first that holds decides: what a thread
// waits for in the end goes before the way it came there (a page fault that
// reclaims is reclaim, not a fault). The names by kernel version are those of
// the kernel's sources 2.6.32 to 6.18; suffixes such as .isra.0 are cut off
// before. Scheduler functions (schedule, io_schedule, rwsem and mutex slow
// paths) are hidden from wchan and, since 5.x, from stacks, so a lock shows by
// the function that takes it standing innermost.
var waitRules = []waitRule{
	// The kernel's own reclaim and compaction threads: nobody is held up there.
	{wait: waitOther, fn: []string{"balance_pgdat", "kswapd", "kcompactd"}, asleep: true},

	// Since 3.2 a throttled writer only sleeps; before, it wrote pages itself, so
	// block-layer functions may stand further in.
	{wait: waitDirtyThrottle, fn: []string{"balance_dirty_pages*", "set_page_dirty_balance"}},

	{wait: waitMemcgReclaim, fn: []string{
		"try_to_free_mem_cgroup_pages", "mem_cgroup_handle_over_high", "__mem_cgroup_handle_over_high",
		"try_charge_memcg", "try_charge", "mem_cgroup_do_charge", "__mem_cgroup_try_charge", "mem_cgroup_oom_synchronize",
		"mem_cgroup_hierarchical_reclaim", "mem_cgroup_reclaim",
	}},

	// Before reclaim: a compacting thread may be paused in reclaim_throttle too.
	{wait: waitCompaction, fn: []string{
		"compact_zone*", "__compact_zone", "try_to_compact_pages", "__alloc_pages_direct_compact", "compact_node*",
		"isolate_migratepages*",
	}},

	{wait: waitReclaim, fn: []string{
		"try_to_free_pages", "do_try_to_free_pages", "shrink_node*", "shrink_zone*", "shrink_lruvec", "shrink_folio_list",
		"shrink_page_list", "shrink_inactive_list", "shrink_active_list", "shrink_slab*", "shrink_list", "shrink_one",
		"shrink_many", "reclaim_throttle", "throttle_direct_reclaim", "__alloc_pages_direct_reclaim", "__perform_reclaim",
		"node_reclaim", "__node_reclaim", "zone_reclaim", "__zone_reclaim", "throttle_vm_writeout",
	}},
	{wait: waitReclaim, fn: []string{"congestion_wait", "wait_iff_congested", "__alloc_pages_slowpath", "__alloc_pages_nodemask"}, top: true},

	{wait: waitSwapIn, fn: []string{
		"do_swap_page", "swap_readpage", "swap_read_folio*", "swapin_readahead", "read_swap_cache_async", "swap_cluster_readahead",
		"swap_vma_readahead", "shmem_swapin*",
	}},

	// A write fault that waits for the page to be written, or for its lock.
	{wait: waitPageMkwrite, fn: pageWaits, under: []string{"*page_mkwrite"}},
	{wait: waitPageMkwrite, fn: []string{"*page_mkwrite"}, top: true},
	// The name is there only where the wait is not a tail call (5.x).
	{wait: waitPageMkwrite, fn: []string{"folio_wait_stable", "wait_for_stable_page"}, top: true},

	// The wait for a tag, for writeback throttling or for a cgroup's I/O limit is
	// before the device and inside whatever asked.
	{wait: waitBlockQueue, fn: []string{
		"blk_mq_get_tag", "__blk_mq_get_tag", "rq_qos_wait", "wbt_wait", "get_request", "get_request_wait", "__get_request_wait",
		"blk_queue_enter", "__bio_queue_enter", "blk_throtl_bio", "ioc_rqos_throttle", "blkcg_maybe_throttle_current",
	}},

	{wait: waitJournal, fn: []string{
		"jbd2_*", "wait_transaction_locked", "wait_transaction_switching", "add_transaction_credits", "start_this_handle",
		"do_get_write_access", "log_wait_commit", "journal_*", "__log_wait_for_space", "ext4_fc_*",
		"xlog_*", "_xfs_log_force*", "xfs_log_force*", "xfs_log_reserve", "xfs_trans_reserve",
		"btrfs_commit_transaction*", "btrfs_sync_log", "wait_current_trans", "wait_for_commit", "wait_log_commit",
	}},

	{wait: waitMmapLock, fn: rwsemWaits, under: mmapLockTakers},
	{wait: waitMmapLock, fn: mmapLockTakers, top: true, asleep: true},
	{wait: waitInodeLock, fn: rwsemWaits, under: inodeLockTakers},
	{wait: waitInodeLock, fn: inodeLockTakers, top: true, asleep: true},

	{wait: waitFsync, fn: []string{
		"*_fsync*", "*fsync_range", "do_fsync", "*_sync_file", "*sync_dirty_buffer*", "file_write_and_wait_range",
		"*filemap_fdatawait*", "filemap_write_and_wait*", "sys_msync", "*_sys_msync", "sync_inodes_sb", "sync_filesystem", "ksys_sync",
		"ksys_sync_file_range", "sync_file_range", "wb_wait_for_completion", "wait_sb_inodes", "blkdev_issue_flush",
	}},

	{wait: waitBlockQueue, fn: []string{
		"submit_bio_wait", "blkdev_issue_*", "__iomap_dio_rw", "iomap_dio_*", "dio_await_completion", "do_blockdev_direct_IO",
		"__blockdev_direct_IO", "__blkdev_direct_IO*", "blkdev_direct_IO*", "blk_execute_rq", "dio_bio_submit",
	}},

	{wait: waitFileFault, fn: pageWaits, under: []string{"*filemap_fault"}},
	{wait: waitFileFault, fn: []string{"*filemap_fault", "filemap_map_pages"}, asleep: true},

	{wait: waitPage, fn: pageWaits},
	{wait: waitPage, fn: []string{
		"filemap_get_pages", "filemap_update_page", "filemap_read_folio", "do_generic_file_read", "generic_file_buffered_read",
		"wait_on_buffer", "__wait_on_buffer", "sleep_on_buffer", "sync_buffer", "migration_entry_wait*", "block_write_begin*",
		"do_read_cache_folio", "__filemap_get_folio", "pagecache_get_page", "truncate_inode_pages_range", "invalidate_inode_pages*",
		"ext4_wait_block_bitmap", "ext4_read_block_bitmap*", "ext4_read_bh*", "__bread*", "xfs_buf_iowait", "xfs_buf_read_map",
	}, asleep: true},

	// With nothing but wchan (5.1 and older show the slow path) a reader's wait is
	// all but always the memory map's.
	{wait: waitMmapLock, fn: []string{"rwsem_down_read_slowpath", "rwsem_down_read_failed", "call_rwsem_down_read_failed"}, top: true},
}

// pageWaits wait for the lock of a page or for its writeback.
var pageWaits = []string{
	"folio_wait_*", "__folio_lock*", "folio_lock", "__lock_page*", "lock_page", "wait_on_page_*", "__wait_on_page_*",
	"wait_for_stable_page", "sleep_on_page*", "sync_page*", "wait_on_page_writeback",
}

// rwsemWaits wait for a lock of the kind that maps and inodes have.
var rwsemWaits = []string{
	"rwsem_down_*", "call_rwsem_down_*", "__down_read*", "__down_write*", "down_read*", "down_write*", "__mutex_lock*", "mutex_lock*",
}

// mmapLockTakers take the lock of a process's memory map (mmap_sem before 5.8)
// or of one mapping (6.4 and later).
var mmapLockTakers = []string{
	"lock_mm_and_find_vma", "do_user_addr_fault", "exc_page_fault", "__do_page_fault", "do_page_fault", "__get_user_pages*",
	"vm_mmap_pgoff", "do_mprotect_pkey", "sys_mprotect", "__vm_munmap", "vm_munmap", "do_madvise", "sys_madvise", "sys_brk", "__x64_sys_brk",
	"__vma_start_write", "vma_start_write", "vma_start_read", "mmap_write_lock*", "mmap_read_lock*", "sys_mremap", "__x64_sys_mremap",
	"lock_vma_under_rcu", "do_mlock", "sys_mmap_pgoff", "m_start",
}

// inodeLockTakers take the lock of a file or folder (i_mutex before 4.7).
var inodeLockTakers = []string{
	"ext4_buffered_write_iter", "ext4_file_write*", "ext4_dio_*", "xfs_file_*write*", "xfs_ilock*", "generic_file_write_iter",
	"generic_file_aio_write", "generic_file_llseek*", "btrfs_file_write*", "btrfs_inode_lock*", "f2fs_file_write*", "do_truncate",
	"chmod_common", "do_unlinkat", "path_openat", "do_last", "open_last_lookups", "lookup_slow", "walk_component", "iterate_dir", "lock_rename",
	"vfs_unlink", "ext4_file_read_iter", "ext4_fallocate", "xfs_file_fallocate",
}

// plainSleeps are where a thread rests that nothing holds up. They matter only
// where state and stack were read a moment apart.
var plainSleeps = []string{
	"hrtimer_nanosleep", "do_nanosleep", "common_nsleep*", "futex_*", "__futex_*", "do_futex", "ep_poll", "ep_*", "do_epoll_wait", "do_sys_poll",
	"do_poll*", "poll_schedule_timeout*", "do_select", "core_sys_select", "pipe_*", "anon_pipe_*", "unix_stream_*", "sk_wait_data", "inet_csk_*",
	"tcp_*", "do_wait*", "__do_wait", "sigsuspend", "do_sigtimedwait", "wait_woken", "n_tty_read", "tty_*", "kthread*", "worker_thread", "smpboot_*",
	"eventfd_*", "timerfd_*", "signalfd_*", "inotify_read", "__skb_wait_*", "skb_wait_*", "ptrace_stop", "do_signal_stop", "io_cqring_wait",
	"do_msgrcv", "do_semtimedop", "rcu_*", "rescuer_thread", "irq_thread", "exit_to_user_mode*", "irqentry_exit_to_user_mode*", "task_work_run",
	"do_freezer_trap", "get_signal",
}
