package process

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestRecordedStacks goes through stacks of a 6.18 kernel in every failure mode,
// taken from recordings, each with the group that it was judged to be in by eye.
func TestRecordedStacks(t *testing.T) {
	text, err := os.ReadFile("testdata/stacks.txt")
	if err != nil {
		t.Fatal(err)
	}
	groups := map[string]int{}
	for block := range strings.SplitSeq(string(text), "# ") {
		head, stack, _ := strings.Cut(block, "\n")
		f := strings.Fields(head)
		if len(f) != 4 {
			continue
		}
		want, state, wchan, from := f[0], f[1][len("state="):], f[2][len("wchan="):], f[3]
		var c classifier
		got := better(c.classify([]byte(stack)), c.classify([]byte(wchan))).waitOf(state[0])
		if got == "" {
			got = "none"
		}
		if got != want {
			t.Errorf("%s, state %s, wchan %s: %s, want %s\n%s", from, state, wchan, got, want, stack)
		}
		groups[got]++
	}
	for _, g := range []string{
		waitDirtyThrottle, waitReclaim, waitMemcgReclaim, waitPage, waitPageMkwrite, waitFileFault, waitJournal, waitFsync,
		waitBlockQueue, waitCompaction, waitMmapLock, "none",
	} {
		if groups[g] == 0 {
			t.Errorf("no recorded stack is %s", g)
		}
	}
}

// TestStacksByKernel has stacks in the style of other kernels, written by hand
// after their sources; innermost first.
func TestStacksByKernel(t *testing.T) {
	for _, c := range []struct{ name, want, stack string }{
		{"2.6.32: writer writes itself", waitDirtyThrottle, "get_request_wait __make_request generic_make_request submit_bio ext4_writepage ext4_da_writepages do_writepages writeback_inodes_wbc balance_dirty_pages_ratelimited_nr generic_file_buffered_write"},
		{"2.6.32: page lock", waitFileFault, "sync_page __lock_page filemap_fault __do_fault handle_pte_fault"},
		{"2.6.32: mmap write fault", waitDirtyThrottle, "balance_dirty_pages_ratelimited_nr set_page_dirty_balance do_wp_page handle_pte_fault"},
		{"2.6.32: memcg", waitMemcgReclaim, "congestion_wait shrink_inactive_list shrink_zone mem_cgroup_hierarchical_reclaim __mem_cgroup_try_charge"},
		{"3.10: reclaim", waitReclaim, "wait_iff_congested shrink_inactive_list shrink_lruvec shrink_zone do_try_to_free_pages try_to_free_pages __alloc_pages_nodemask"},
		{"3.10: congestion seen by wchan only", waitReclaim, "congestion_wait"},
		{"3.10: stable page", waitPageMkwrite, "sleep_on_page wait_on_page_bit wait_for_stable_page ext4_page_mkwrite __do_fault"},
		{"3.10: inode", waitInodeLock, "__mutex_lock_slowpath mutex_lock generic_file_aio_write ext4_file_write do_sync_write"},
		{"3.10: mmap_sem by wchan", waitMmapLock, "call_rwsem_down_read_failed"},
		{"3.10: jbd2", waitJournal, "jbd2_log_wait_commit jbd2_complete_transaction ext4_sync_file vfs_fsync_range do_fsync"},
		{"4.18: throttled", waitDirtyThrottle, "balance_dirty_pages.isra.28 balance_dirty_pages_ratelimited iomap_apply xfs_file_buffered_aio_write"},
		{"4.18: swap from disk", waitSwapIn, "io_schedule wait_on_page_bit_common __lock_page_or_retry do_swap_page __handle_mm_fault"},
		{"4.18: mmap_sem writer", waitMmapLock, "call_rwsem_down_write_failed_killable down_write_killable vm_mmap_pgoff ksys_mmap_pgoff"},
		{"5.4: xfs log", waitJournal, "xfs_log_force_lsn xfs_file_fsync do_fsync"},
		{"5.4: inode rwsem", waitInodeLock, "rwsem_down_write_slowpath down_write xfs_ilock xfs_file_buffered_aio_write new_sync_write"},
		{"5.15: direct reclaim", waitReclaim, "congestion_wait throttle_direct_reclaim try_to_free_pages __alloc_pages_slowpath.constprop.0"},
		{"5.15: tag", waitBlockQueue, "blk_mq_get_tag __blk_mq_alloc_request blk_mq_submit_bio submit_bio_noacct ext4_mpage_readpages page_cache_ra_unbounded filemap_fault"},
		{"6.1: direct I/O", waitBlockQueue, "__iomap_dio_rw iomap_dio_rw ext4_file_read_iter"},
		{"6.1: memory.high", waitMemcgReclaim, "shrink_node do_try_to_free_pages try_to_free_mem_cgroup_pages reclaim_high mem_cgroup_handle_over_high exit_to_user_mode_prepare"},
		{"6.1: mtime in a fault waits for the journal", waitJournal, "do_get_write_access jbd2_journal_get_write_access __ext4_journal_get_write_access ext4_dirty_inode file_update_time ext4_page_mkwrite"},
		{"6.1: compaction paused", waitCompaction, "reclaim_throttle isolate_migratepages_block compact_zone try_to_compact_pages"},
		{"6.1: lock hidden from stacks", waitInodeLock, "ext4_buffered_write_iter vfs_write ksys_write"},
		{"6.1: cgroup I/O limit", waitBlockQueue, "blk_throtl_bio __submit_bio submit_bio_noacct ext4_io_submit"},
		{"6.18: metadata block, seen live", waitPage, "ext4_wait_block_bitmap ext4_mb_init_cache ext4_mb_init_group"},
		{"6.18: folio lock by tail call, seen live", waitPage, "__filemap_get_folio ext4_da_write_begin generic_perform_write"},
		{"NFS", waitOther, "rpc_wait_bit_killable nfs_wait_on_request nfs_lock_and_join_requests"},
		{"a sleep is nothing", "", "futex_wait_queue_me futex_wait do_futex"},
		{"not in the kernel", "", ""},
	} {
		frames := strings.Join(strings.Fields(c.stack), "+0x1/0x2\n[<0>] ")
		if frames != "" {
			frames = "[<0>] " + frames + "+0x1/0x2\n[<ffffffffffffffff>] 0xffffffffffffffff\n"
		}
		var cl classifier
		if got := cl.classify([]byte(frames)).waitOf('D'); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestLockNeedsSleep(t *testing.T) {
	var c classifier
	v := c.classify([]byte("[<0>] vm_mmap_pgoff+0x1/0x2\n[<0>] do_syscall_64+0x1/0x2\n"))
	if got := v.waitOf('R'); got != "" {
		t.Errorf("a running thread in mmap waits for %q", got)
	}
	if got := v.waitOf('D'); got != waitMmapLock {
		t.Errorf("a blocked thread in mmap waits for %q", got)
	}
}

func TestFunctionName(t *testing.T) {
	for in, want := range map[string]string{
		"balance_dirty_pages+0x1a2/0x7f0":      "balance_dirty_pages",
		"ext4_fsync_nojournal.constprop.0+0x1": "ext4_fsync_nojournal",
		"do_x.isra.3.part.1":                   "do_x",
		"0":                                    "",
		"0xffffffffffffffff":                   "",
		"":                                     "",
		"\x1b[31mred":                          "?[31mred",
		strings.Repeat("a", 300):               strings.Repeat("a", maxName),
	} {
		if got := functionName([]byte(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzClassify(f *testing.F) {
	f.Add([]byte("[<0>] balance_dirty_pages+0x1a2/0x7f0\n[<0>] vfs_write+0x1/0x2\n"))
	f.Add([]byte("folio_wait_bit_common"))
	f.Add([]byte("0"))
	f.Add([]byte("[<\n]]\x00+.\xff"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var c classifier
		first := c.classify(text)
		if again := c.classify(text); again != first {
			t.Errorf("%+v, then %+v", first, again)
		}
		if len(first.stack) > maxFrames*(4*maxName+3) {
			t.Errorf("a stack of %d bytes", len(first.stack))
		}
		for _, state := range []byte("RSDZ") {
			wait := first.waitOf(state)
			if wait != "" && !slices.Contains(waitGroups[:], wait) {
				t.Errorf("group %q", wait)
			}
		}
	})
}
