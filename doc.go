// Package stallmark holds no code of the program: only the tests that guard
// the architecture (which folder may import which, doc comments, the house
// rules). The program is ./cmd/stallmark.
package stallmark
