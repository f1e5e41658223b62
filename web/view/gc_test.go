package view

import (
	"testing"

	"stallmark/storage/model"
)

// TestJVMOf has a log of a watched JVM and one that nobody is known to write.
func TestJVMOf(t *testing.T) {
	for name, attrs := range map[string]map[string]string{
		"kafka-broker (pid 42)": {"process": "kafka-broker", "pid": "42", "log": "/x/gc.log"},
		"/x/gc.log":             {"log": "/x/gc.log"},
		"/x/\\u001b.log":        {"log": "/x/\x1b.log"},
	} {
		if got := NewJVM(JVMOf(model.Event{Attrs: attrs}), nil).Name; got != name {
			t.Errorf("%v: %q, want %q", attrs, got, name)
		}
	}
}
