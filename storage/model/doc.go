// Package model is the vocabulary that every other package shares: series and
// samples, facts, events, coverage, findings, incidents and the report that
// `stallmark diagnose --json` prints. It imports the standard library only.
//
// All times are UTC. Sample times are milliseconds since the Unix epoch, as in
// Prometheus. Units are part of metric names (Prometheus naming convention).
package model
