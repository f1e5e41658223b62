package model

import "time"

// Fact is a setting or property of the host or of a process at a time: a
// sysctl, a mount point, a broker's version. A later fact with the same key
// replaces the earlier one; a change is also an [Event] of kind [EventSetting].
//
// Keys are dotted paths: host.*, sysctl.vm.dirty_bytes, thp.enabled,
// block.vda.scheduler, process.<pid>.role.
type Fact struct {
	At    time.Time `json:"at"`
	Key   string    `json:"key"`
	Value string    `json:"value"`
}

// EventKind says what an event is about.
type EventKind string

// The kinds of events.
const (
	EventSetting EventKind = "setting" // a fact changed its value
	EventBlocked EventKind = "blocked" // a thread was seen waiting in the kernel
	EventProcess EventKind = "process" // a watched process came or went
	EventDevice  EventKind = "device"  // a disk or CPU came or went
	EventSource  EventKind = "source"  // a source changed its state
	EventLog     EventKind = "log"     // a log line matched a pattern
	EventSelf    EventKind = "self"    // something about the recorder itself
	EventFiles   EventKind = "files"   // data files of a watched process were deleted or read in again
	EventPause   EventKind = "pause"   // a JVM's threads stood: a collection, or another safepoint
	EventStall   EventKind = "stall"   // a thread of a JVM waited for memory while others went on
)

// Event is something that happened in [From, To]; To equals From for an
// instant. Text comes from the kernel, from processes or from logs and is
// hostile: it is escaped wherever it is shown.
type Event struct {
	From   time.Time         `json:"from"`
	To     time.Time         `json:"to"`
	Kind   EventKind         `json:"kind"`
	Source string            `json:"source"` // the source's name, as in coverage
	Text   string            `json:"text"`
	Attrs  map[string]string `json:"attrs,omitempty"`
	Count  int               `json:"count,omitempty"` // how many it stands for, 0 means 1
}

// SourceState says how much a source could give.
type SourceState string

// The states of a source. Anything but [SourceOK] has a detail, and a mend
// where there is one.
const (
	SourceOK      SourceState = "ok"
	SourcePartial SourceState = "partial"
	SourceAbsent  SourceState = "absent"
	SourceDenied  SourceState = "denied"
	SourceFailed  SourceState = "failed"
)

// Coverage is what one source could and could not read.
type Coverage struct {
	Source   string      `json:"source"`
	State    SourceState `json:"state"`
	Detail   string      `json:"detail,omitempty"`   // why, in words
	Mend     string      `json:"mend,omitempty"`     // capability, boot flag, mount ... that would give it
	Provides []string    `json:"provides,omitempty"` // prefixes of the metric names that come from it
	Since    time.Time   `json:"since"`
}
