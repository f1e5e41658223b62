// Package match finds the known lines in log text. [New] makes a [Set] of
// patterns; [Set.Next] goes through a buffer of whole lines and stops at each
// line that a pattern recognises, with the pattern and its fields in a [Hit].
//
// Text without any of the patterns' literals is passed over without looking at
// lines at all (filter.go): one look at every few bytes decides. Only a line with
// a literal meets a regular expression. Lines that do not match cost no
// allocation.
//
// Log text is hostile. Go's regular expressions take time linear in the line,
// their size is bounded here, and the length of lines is the caller's.
package match
