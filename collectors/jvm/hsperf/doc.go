// Package hsperf reads the counters that every HotSpot JVM keeps in a file that
// it maps, /tmp/hsperfdata_<user>/<pid>: totals of collections and safepoints of
// any JVM without configuration, in containers too. The file is read and never
// written; the JVM does not notice.
//
// [Parse] takes the file apart, [ReadingOf] picks what matters and applies the
// rules of the JVM's version, [Source] puts it into series. Since the file is in
// the JVM's own /tmp and holds its command line, [Root] finds and opens it safely
// and keeps only the allow-listed texts, under a name that can be recorded.
//
// Source of the layout: HotSpot's perfMemory.hpp and perfData.hpp (JDK 8 to 25);
// of the counters: runtimeService.cpp, collectorCounters.cpp, generationCounters.cpp.
package hsperf
