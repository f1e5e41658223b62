// Package audit judges the settings of a host, its brokers and their JVMs
// before anything fails. The checks are data, in the YAML files of this folder
// (README.md describes their form); this code reads and evaluates them.
//
// A check reads facts and PromQL, picks the first of its verdicts that holds,
// and gives one [Result] for each subject. What a host does not have is
// [Absent] and gets no advice; what should be there and was not read is
// [Unknown] with the reason, and never [OK].
package audit
