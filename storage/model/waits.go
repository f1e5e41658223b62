package model

// WaitNames are the groups of kernel functions in which a thread can be seen
// waiting: the label `wait` of stallmark_blocked_threads, and what rule files
// may name.
func WaitNames() []string {
	return []string{
		"dirty_throttle", "reclaim", "memcg_reclaim", "page_wait", "page_mkwrite", "file_fault", "journal",
		"fsync", "block_queue", "swap_in", "compaction", "mmap_lock", "inode_lock", "other",
	}
}
