package process

import (
	"slices"
	"testing"

	"stallmark/storage/model"
)

// Rule files may name exactly the groups that there are series of.
func TestWaitNamesAreThoseOfTheModel(t *testing.T) {
	if got := waitGroups[:]; !slices.Equal(got, model.WaitNames()) {
		t.Errorf("%q, the model has %q", got, model.WaitNames())
	}
}
