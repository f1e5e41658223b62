package storage

import "errors"

// keep stores a minute and sees to all that follows from it.
func (d *disk) keep(m minute, notes [][]byte, journal int) error {
	if err := d.makeRoom(); err != nil {
		d.update(func(st *diskState) { st.WriteError = err.Error() })
		return err
	}
	err := d.store(m, notes, journal)
	if errors.Is(err, errDamagedFile) {
		return d.giveUp(err)
	}
	if err != nil {
		return err
	}
	d.measure()
	if err := d.maintain(m.start); err != nil { // the minute is safe: this is tried again with the next
		d.log.Error("compaction, rollups and retention", "error", err)
		d.update(func(st *diskState) { st.WriteError = err.Error() })
	}
	return nil
}

// maintain puts ten minutes together when the next ten have begun, rolls up
// hours that have become complete, and drops what is too old or too much.
func (d *disk) maintain(start int64) error {
	if slot := slotStart(start); slot != d.slot {
		if err := d.compact(slot - slotMillis); err != nil {
			return err
		}
		if d.slot != 0 && d.slot != slot-slotMillis { // there was a gap before this slot
			if err := d.compact(d.slot); err != nil {
				return err
			}
		}
		if err := d.rollUpMissing(); err != nil {
			return err
		}
		if err := d.expire(); err != nil {
			return err
		}
		d.slot = slot
		d.measure()
	}
	if d.snapshot().UsedBytes <= d.opts.MaxBytes {
		return nil
	}
	if err := d.change(evict); err != nil {
		return err
	}
	d.measure()
	return nil
}

// rollUpMissing rolls up the complete hours that have not been.
func (d *disk) rollUpMissing() error {
	hours, err := d.missingRollups()
	if err != nil {
		return err
	}
	for _, h := range hours {
		if err := d.rollUp(h); err != nil {
			return err
		}
	}
	return nil
}
