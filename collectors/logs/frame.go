package logs

// Format is how lines are wrapped by what carried them.
type Format string

// FormatAuto finds out by itself.
const FormatAuto Format = ""

// ParseFormat reads a format as the user names it.
func ParseFormat(name string) (Format, error) { return Format(name), nil }
