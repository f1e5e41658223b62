package drill

import (
	"time"

	"stallmark/cmd/stalldrill/host"
	"stallmark/cmd/stalldrill/undo"
	"stallmark/cmd/stalldrill/work"
)

// Result is what a drill did and what was felt and seen.
type Result struct {
	Mode      string         `json:"mode"`
	Truth     []string       `json:"truth"` // one of these is the cause; none: the kernel is not to blame
	Also      []string       `json:"also"`  // may be named beside it
	Harmless  bool           `json:"harmless"`
	Prepared  time.Time      `json:"prepared"` // beginning of the preparation, whose work may be seen too
	Began     time.Time      `json:"began"`    // of the drill itself
	Ended     time.Time      `json:"ended"`
	VictimPid int            `json:"victim_pid"`
	Victim    []work.Row     `json:"victim"`
	Signs     []SignSeen     `json:"signs"`
	Waits     map[string]int `json:"waits"`   // sightings of threads asleep in a function
	Samples   int            `json:"samples"` // how often was looked, over all threads
	Provoked  bool           `json:"provoked"`
	Cut       string         `json:"cut,omitempty"` // why it ended before its time
	Settings  []string       `json:"settings"`
	Restored  undo.Outcome   `json:"restored"`
	Errors    []string       `json:"errors,omitempty"`
}

// SignSeen is a sign with what was measured.
type SignSeen struct {
	Counter   string   `json:"counter"`
	PerSecond *float64 `json:"per_second"` // null: this kernel does not count it
	AtLeast   float64  `json:"at_least"`
	None      bool     `json:"none,omitempty"` // wanted: no movement
	Holds     bool     `json:"holds"`
}

// judge measures the signs of a mode over a span of seconds.
func judge(signs []Sign, from, to host.Counters, seconds float64) ([]SignSeen, bool) {
	all := true
	var seen []SignSeen
	for _, s := range signs {
		v := SignSeen{Counter: s.Counter, AtLeast: s.AtLeast, None: s.None}
		if grown, ok := host.Growth(from, to, s.Counter); ok && seconds > 0 {
			rate := grown / seconds
			v.PerSecond = &rate
			v.Holds = s.None && grown == 0 || !s.None && rate >= s.AtLeast
		}
		all = all && v.Holds
		seen = append(seen, v)
	}
	return seen, all
}

// judge finds the operation among what the victim felt. The sign is in
// milliseconds, not a rate.
func (s Slow) judge(rows []work.Row) SignSeen {
	seen := SignSeen{Counter: "victim." + s.Operation + ".p99_ms", AtLeast: float64(s.P99) / 1e6}
	for _, row := range rows {
		if row.Operation == s.Operation && row.Phase == "drill" {
			p99 := row.Call.P99
			seen.PerSecond, seen.Holds = &p99, p99 >= seen.AtLeast
		}
	}
	return seen
}
