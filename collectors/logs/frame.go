package logs

// Format is how lines are wrapped by what carried them.
type Format string

// FormatAuto finds out by itself.
const FormatAuto Format = ""
