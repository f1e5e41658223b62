// Package collectors is the sampler: on every beat it asks an explicit list of
// sources what the host says and hands their readings to a [Sink].
//
// The vocabulary: a [Root] reads files of one host, live or recorded; a
// [Source] reads one thing from it and puts samples, facts and events into its
// [Out]; the [Sampler] keeps the beat, times every source, skips one that
// hangs and names it, and marks series that have ended as stale.
//
// Sub-packages hold the sources: host (/proc and /sys), process (brokers and
// their threads), files (recordings). Nothing here imports storage or rules.
package collectors
