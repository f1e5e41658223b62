// Package gclog reads what HotSpot prints about garbage collections and
// safepoints: the unified log of JDK 9 and later with any decorations, and
// -XX:+PrintGC and -XX:+PrintGCDetails of JDK 5 to 8, of every collector. The
// format is recognised line by line from the content, so that one file may hold
// both, other programs' lines, and several runs of a JVM.
//
// A [Parser] takes lines and hands each [Pause], [Safepoint], [Stall] and
// [Cycle] to its [Handler] as soon as it is complete: the line that ends a pause
// is followed by its processor times and by its safepoint. It keeps [Figures]
// of all it has seen. [Series] turns the same into samples and events.
//
// Source of the formats: the HotSpot sources, JDK 8 (gcTraceTime.cpp,
// g1CollectedHeap.cpp, concurrentMarkSweepGeneration.cpp, safepoint.cpp) to JDK 25
// (gcTraceTime.cpp, zTracer, shenandoahUtils.cpp, safepoint.cpp), and logs made by them.
package gclog
