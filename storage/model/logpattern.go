package model

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// LogPattern is one kind of log line that is known. It is data: the files of
// rules/patterns hold it, and collectors/logs/match looks for it.
//
// A line is recognised if it contains one of the literals and the regular
// expression matches it. Of several patterns that match a line, the one with
// the longest literal is the most specific and wins.
type LogPattern struct {
	ID       string
	Product  string // rocketmq, kafka, zookeeper, kernel, jvm ...
	Versions string // of the product, in words
	Where    string // the file, logger or thread that writes it, in words
	Title    string
	Meaning  string
	Not      string // what it looks like and is not
	Proof    LogProof
	Literals []string // at least one; a line without any of them is never looked at
	Regexp   string   // RE2 without anchors at a time stamp or level: layouts differ
	Fields   map[string]LogUnit
	File     string // that it was read from
	Line     int
}

// LogProof says what follows from a line.
type LogProof string

// The levels of proof.
const (
	ProofDirect  LogProof = "direct"  // the line states or measures the fault or the wait itself
	ProofHint    LogProof = "hint"    // it fits a stall, and other things too
	ProofContext LogProof = "context" // normal operation, of which the figures are worth keeping
	ProofNoise   LogProof = "noise"   // known to be harmless: never a finding, never an unknown warning
)

// LogUnit is what a named group of a pattern's regular expression holds.
type LogUnit string

// The units. A field named "duration" is a time that ended when the line was
// written; one named "start" is the instant at which that time began.
const (
	UnitNanoseconds  LogUnit = "ns"
	UnitMicroseconds LogUnit = "us"
	UnitMilliseconds LogUnit = "ms"
	UnitSeconds      LogUnit = "s"
	UnitTime         LogUnit = "time"     // a time that names its unit: 7.45s, 1m3.5s, 850ms, 2.1m
	UnitEpochMillis  LogUnit = "epoch-ms" // an instant, milliseconds since 1970 UTC
	UnitBytes        LogUnit = "bytes"
	UnitKiB          LogUnit = "kib"
	UnitMiB          LogUnit = "mib"
	UnitSize         LogUnit = "size" // a size that names its unit: 1.5gb, 512MB, 4kB
	UnitCount        LogUnit = "count"
	UnitRatio        LogUnit = "ratio"
	UnitPercent      LogUnit = "percent"
	UnitText         LogUnit = "text"
)

// Names of fields that mean the same in every pattern.
const (
	FieldDuration = "duration"
	FieldStart    = "start"
	FieldCopy     = "copy" // the part of duration in which the bytes themselves were copied
	FieldSize     = "size"
	FieldTopic    = "topic"
	FieldGroup    = "group"
	FieldThread   = "thread"
	FieldQueue    = "queue"
)

// LogUnits lists the units.
func LogUnits() []LogUnit {
	return []LogUnit{
		UnitNanoseconds, UnitMicroseconds, UnitMilliseconds, UnitSeconds, UnitTime, UnitEpochMillis, UnitBytes, UnitKiB, UnitMiB,
		UnitSize, UnitCount, UnitRatio, UnitPercent, UnitText,
	}
}

// LogProofs lists the levels of proof.
func LogProofs() []LogProof { return []LogProof{ProofDirect, ProofHint, ProofContext, ProofNoise} }

const (
	maxLogRegexp  = 2048  // bytes of a regular expression
	maxLogProgram = 20000 // instructions that it may compile to

	// MinLogLiteral and MaxLogLiteral bound a pattern's literals, in bytes.
	MinLogLiteral = 5
	MaxLogLiteral = 256

	// FastLogLiteral is how long all literals of a set must be for the search to
	// run at its full speed.
	FastLogLiteral = 13
)

// CompileLogRegexp compiles a pattern's regular expression, within bounds on its
// size. Matching takes time linear in the line, whatever the expression.
func CompileLogRegexp(text string) (*regexp.Regexp, error) {
	if len(text) > maxLogRegexp {
		return nil, fmt.Errorf("%d bytes: want at most %d", len(text), maxLogRegexp)
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	if len(program.Inst) > maxLogProgram {
		return nil, fmt.Errorf("compiles to %d instructions: want at most %d", len(program.Inst), maxLogProgram)
	}
	return regexp.Compile(text)
}

// CheckLogLiteral says what is wrong with a literal, nil if it can be used.
func CheckLogLiteral(l string) error {
	if len(l) < MinLogLiteral || len(l) > MaxLogLiteral || strings.ContainsAny(l, "\n\r") {
		return fmt.Errorf("want %d to %d bytes on one line", MinLogLiteral, MaxLogLiteral)
	}
	return nil
}
