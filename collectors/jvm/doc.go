// Package jvm groups what is known of Java virtual machines: gclog reads what
// they print about garbage collection and safepoints, hsperf reads the counters
// that HotSpot keeps in a shared file.
package jvm
