// Package matrix compares what drills provoke with what a recorder says while
// they go on: a row a drill, a column a signature.
package matrix
