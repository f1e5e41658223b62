package work

import "time"

// openSpin uses a CPU for a time.
func openSpin(t Task) operation {
	d := time.Duration(t.Bytes)
	return func() error {
		for start := time.Now(); time.Since(start) < d; { //nolint:revive // burning time is the point
		}
		return nil
	}
}
