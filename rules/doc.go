// Package rules recognises stalls. Signatures are YAML files with PromQL
// (signatures/*.yaml, one known kind of stall each); the [Engine] evaluates
// them beat by beat, live and over any past span by the same code, and turns
// conditions that hold into findings with evidence, confidence, the causes
// ruled out, and advice rendered for this host. [Incidents] groups findings
// under their root.
//
// The way through the code: [Load] reads the files into a [Pack]; [Query] is
// the Prometheus PromQL engine over any storage; [Engine.Step] judges one beat
// (beat.go what is read once a beat, prover.go what need not be evaluated,
// life.go the states, evidence.go the values kept, remedy.go the advice);
// [Engine.Report] is the verdict about a window; [RunTests] runs the tests
// inside the signature files.
//
// Nothing here knows the wall clock, bbolt or /proc: time is what the caller
// says, and data comes from a [Source]. Absent is not zero: a signature whose
// inputs are missing is unknown, with the reason, and never quiet.
package rules
