// Package pagecache tells which bytes of the brokers' data files are in the
// page cache: what is otherwise guessed from the time that reads take. It shows
// what survived a restart, what a squeeze for memory threw out, and, by the
// growth of old segments in memory, who reads cold data.
//
// [Source] is one source among the others. Every half a minute it makes a pass
// over the data files of every watched broker: it lists them (inventory.go, by
// the layouts of layout.go), chooses (plan.go: the newest first, the others in
// turn), and asks about each (look.go). Its work is done beside the beat, a few
// milliseconds a second (pass.go), so that no beat waits for a disk.
//
// The data itself is never touched. A file is opened for reading, asked about
// and closed at once: nothing is read, nothing is read ahead, and no deleted
// file is kept alive. The kernel is asked by cachestat(2) (Linux 6.5), or by
// mincore(2) on a mapping without access (kernel.go). A host whose integrity
// measurement reads every file that root opens is left alone.
//
// What a scanner does that a site has hooked to every open (fanotify) cannot be
// seen from here.
package pagecache
