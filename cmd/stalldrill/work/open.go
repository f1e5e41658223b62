package work

import (
	"fmt"

	"stallmark/cmd/stalldrill/host"
)

// operation is done once a beat. What it holds is given back when the process
// ends.
type operation func() error

// open prepares a task: its files, its memory, the mapping of it.
func open(h host.Host, t Task) (operation, error) {
	switch t.Do {
	case Append:
		return openAppend(t)
	case Fsync:
		return openFsync(t)
	case MapAppend:
		return openMapAppend(t)
	case MapCold:
		return openMapCold(t)
	case MapStore:
		return openMapStore(t)
	case ColdRead, HotRead:
		return openRead(t)
	case ColdMap, HotMap:
		return openMapRead(t)
	case Anon:
		return openAnon(t)
	case Huge:
		return openHuge(t), nil
	case Churn:
		return openChurn(t), nil
	case Protect:
		return openProtect(t)
	case Tick:
		return func() error { return nil }, nil
	case Spin:
		return openSpin(t), nil
	case Flush, FlushRange:
		return openFlush(t)
	case Direct:
		return openDirect(t)
	case SmallFiles, SmallSyncs:
		return openSmall(t)
	case Copy:
		return openCopy(t)
	case Eat:
		return openEat(h, t)
	case FillCache, Fragment:
		return openCache(h, t)
	}
	return nil, fmt.Errorf("no operation %q", t.Do)
}
