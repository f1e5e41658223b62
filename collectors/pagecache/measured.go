package pagecache

import (
	"strings"

	"stallmark/collectors"
)

// measured tells whether the kernel reads every file that root opens, to
// measure it (IMA, by the boot parameters ima_tcb or ima_policy=tcb). Opening a
// segment would then read all of it.
func measured(root collectors.Root) error {
	text, err := root.Read("proc/cmdline", nil)
	if err != nil {
		return nil // then it is not known, and hardly ever so
	}
	for word := range strings.FieldsSeq(string(text)) {
		policy, ok := strings.CutPrefix(word, "ima_policy=")
		if word == "ima_tcb" || ok && strings.Contains(policy, "tcb") {
			return collectors.Absent("no data file is opened: on this host the kernel reads all of a file that is opened, to measure it ("+word+")", "")
		}
	}
	return nil
}
