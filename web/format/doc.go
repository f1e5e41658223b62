// Package format is the one place where the page turns numbers, spans and
// times into text. Units are the words that signatures use: bytes, bytes/s,
// pages, seconds, ms, percent, per_second, count, ratio.
package format
