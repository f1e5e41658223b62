// Package postmortem writes an incident as Markdown (CommonMark with tables, as
// GitHub and GitLab have them): what happened and when, the evidence with its
// thresholds, what was ruled out and what could not be judged, the settings that
// were changed with what came of it, and the advice. It is a draft for people
// to go on from, and says only what was measured.
//
// Names of devices, processes and topics and lines of logs are hostile text: they
// are escaped, so that none becomes markup, a link or another line.
package postmortem
