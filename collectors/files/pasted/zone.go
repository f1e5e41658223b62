package pasted

import "time"

// zoneHours are names of zones that mean one thing wherever they are printed, in
// hours east of Greenwich. CST is China's and America's, IST India's, Israel's and
// Ireland's, BST Britain's and Bangladesh's: those are left out.
var zoneHours = map[string]int{
	"CET": 1, "CEST": 2, "MEZ": 1, "MESZ": 2, "EET": 2, "EEST": 3, "WET": 0, "WEST": 1, "MSK": 3, "JST": 9, "KST": 9, "HKT": 8, "SGT": 8, "WIB": 7,
	"EST": -5, "EDT": -4, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13,
}

// zoned gives a time that was parsed with the name of a zone its offset, where the
// name tells one. A name that does not is as good as none, which doubtful tells.
func zoned(t time.Time, zone *time.Location) (at time.Time, doubtful string) {
	name, offset := t.Zone()
	if offset != 0 || name == "" || name == "UTC" || name == "GMT" || t.Location() == zone {
		return t, ""
	}
	clock := func(loc *time.Location) time.Time {
		return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), loc)
	}
	if hours, ok := zoneHours[name]; ok {
		return clock(time.FixedZone(name, hours*3600)), ""
	}
	if known := clock(zone); len(name) >= 3 && name[0] != '+' && name[0] != '-' {
		return known, name
	}
	return t, ""
}
