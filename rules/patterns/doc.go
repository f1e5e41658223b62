// Package patterns reads the log patterns: what is known about single lines of
// broker, JVM and kernel logs, as data in the YAML files of this folder (README.md
// describes their form). What looks for them is elsewhere (collectors/logs/match):
// here is only what they say, and the samples that prove it.
package patterns
