package main

import (
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"stallmark/collectors/logs/stamp"
)

// told is what the user tells of texts that do not say it themselves.
type told struct {
	zones []zoneFor
	boot  time.Time // of the host that wrote them; zero: not known
}

// readTold reads --zone and --boot.
func readTold(o *options) (told, error) {
	zones, err := parseZones(o.zones)
	if err != nil {
		return told{}, usageError{err}
	}
	boot, err := parseBoot(o.boot)
	if err != nil {
		return told{}, usageError{err}
	}
	return told{zones, boot}, nil
}

// zoneFor is a zone that the user has set, for the files of a name.
type zoneFor struct {
	name string // glob on the whole path or its last part; empty: all
	zone *time.Location
}

// parseZones reads the values of --zone: ZONE or NAME=ZONE.
func parseZones(values []string) ([]zoneFor, error) {
	var zones []zoneFor
	for _, v := range values {
		name, zone, named := strings.Cut(v, "=")
		if !named {
			name, zone = "", v
		}
		if _, err := path.Match(name, ""); err != nil {
			return nil, fmt.Errorf("--zone %s: %w", v, err)
		}
		l, err := stamp.ParseZone(zone)
		if err != nil {
			return nil, fmt.Errorf("--zone: %w", err)
		}
		zones = append(zones, zoneFor{name, l})
	}
	return zones, nil
}

// parseBoot reads --boot: an instant, or the seconds since 1970 that "btime" in
// /proc/stat has. Empty is none.
func parseBoot(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if s, err := strconv.ParseInt(text, 10, 64); err == nil && s > 0 && s < maxBoot {
		return time.Unix(s, 0).UTC(), nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 Z07:00"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("--boot %.40q: want a time with its zone as in 2026-01-02T03:04:05Z, or the seconds of btime in /proc/stat", text)
}

// maxBoot is the year 2100, in seconds since 1970.
const maxBoot = 4_102_444_800

// zoneOf is the zone that was set for a file, nil if none was. A named one goes
// before one for all.
func (t told) zoneOf(file string) *time.Location {
	var all *time.Location
	for _, z := range t.zones {
		if z.name == "" {
			all = z.zone
			continue
		}
		whole, _ := path.Match(z.name, file)
		last, _ := path.Match(z.name, filepath.Base(file))
		if whole || last {
			return z.zone
		}
	}
	return all
}
