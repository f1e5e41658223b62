// Stallmark tells why a message broker on this host just stalled.
//
// main handles signals and exit codes; each subcommand has a file of its own
// (serve.go, diagnose.go, record.go, rules.go, version.go, child.go). options.go
// is the one table of options, of which command lines and the configuration
// file are two spellings; pipeline.go wires sources, store and rules, live or
// over a recording; text.go writes a report for a terminal.
package main
