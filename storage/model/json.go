package model

import (
	"encoding/json"
	"time"
)

// JSONTime is how all times are written in JSON: RFC 3339 in UTC with
// milliseconds.
const JSONTime = "2006-01-02T15:04:05.000Z"

// stamp is a time on its way into JSON.
type stamp time.Time

// MarshalJSON implements json.Marshaler.
func (s stamp) MarshalJSON() ([]byte, error) {
	return []byte(`"` + time.Time(s).UTC().Format(JSONTime) + `"`), nil
}

// orEmpty writes a missing list as [] and not as null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// MarshalJSON implements json.Marshaler.
func (w Window) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		From stamp `json:"from"`
		To   stamp `json:"to"`
	}{stamp(w.From), stamp(w.To)})
}

// MarshalJSON implements json.Marshaler.
func (f Finding) MarshalJSON() ([]byte, error) {
	type plain Finding
	if f.Subject == nil {
		f.Subject = map[string]string{}
	}
	f.Evidence, f.Explains, f.Remedy = orEmpty(f.Evidence), orEmpty(f.Explains), orEmpty(f.Remedy)
	return json.Marshal(struct {
		plain
		Started stamp  `json:"started"`
		Ended   *stamp `json:"ended"`
		Told    *stamp `json:"told,omitempty"`
	}{plain(f), stamp(f.Started), (*stamp)(f.Ended), (*stamp)(f.Told)})
}

// MarshalJSON implements json.Marshaler.
func (i Incident) MarshalJSON() ([]byte, error) {
	type plain Incident
	i.Findings = orEmpty(i.Findings)
	return json.Marshal(struct {
		plain
		Started stamp  `json:"started"`
		Ended   *stamp `json:"ended"`
	}{plain(i), stamp(i.Started), (*stamp)(i.Ended)})
}

// MarshalJSON implements json.Marshaler.
func (c Coverage) MarshalJSON() ([]byte, error) {
	type plain Coverage
	return json.Marshal(struct {
		plain
		Since stamp `json:"since"`
	}{plain(c), stamp(c.Since)})
}

// MarshalJSON implements json.Marshaler. Lists are never null.
func (r Report) MarshalJSON() ([]byte, error) {
	type plain Report
	r.Findings, r.Incidents = orEmpty(r.Findings), orEmpty(r.Incidents)
	r.RuledOut, r.Unknown, r.Coverage = orEmpty(r.RuledOut), orEmpty(r.Unknown), orEmpty(r.Coverage)
	r.NotApplicable = orEmpty(r.NotApplicable)
	return json.Marshal(plain(r))
}
