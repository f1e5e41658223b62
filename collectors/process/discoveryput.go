package process

import (
	"fmt"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// put gives the info series and the facts of a watched process.
func (d *discovery) put(out *collectors.Out, w *watched) {
	l := w.learned.Load()
	if l == nil {
		l = &learned{}
	}
	info := d.infos[w]
	if info == nil || info.Get("store_device") != l.storeDevice || info.Get("store_volume") != l.storeVolume {
		info = w.series("stallmark_process_info", "role", w.role, "store_device", l.storeDevice, "store_volume", l.storeVolume)
		d.infos[w] = info
	}
	out.Add(info, 1)
	prefix := w.factPrefix()
	out.Fact(prefix+"name", w.name)
	out.Fact(prefix+"role", w.role)
	for _, f := range w.facts {
		out.Fact(f.key, f.value)
	}
	for _, f := range []fact{
		{"store", firstOf(w.store, l.store)}, {"store_device", l.storeDevice}, {"store_fstype", l.storeFstype}, {"version", firstOf(w.version, l.version)},
	} {
		if f.value != "" {
			out.Fact(prefix+f.key, f.value)
		}
	}
}

// report says what could not be found out.
func (d *discovery) report(missing *gaps) {
	if len(d.watched) == 0 {
		missing.join(errNothingWatched())
	}
	if d.hidden {
		missing.add(model.SourcePartial, "processes of other users are hidden (hidepid, or another pid namespace)",
			"run in the host's pid namespace, in the group of proc's gid= option or with CAP_SYS_PTRACE")
	}
	if d.over {
		missing.add(model.SourcePartial, fmt.Sprintf("more than %d processes to watch: the first ones are", maxWatched), "name fewer processes")
	}
	if n := d.inspects.hanging(); n > 0 {
		missing.add(model.SourcePartial, "the command line or configuration of a process cannot be read: the read hangs",
			"see what holds the memory map of that process, or the server of its files")
	}
	if d.recorded {
		return
	}
	for _, w := range d.watched {
		if w.config != "" {
			missing.add(model.SourcePartial, fmt.Sprintf("configuration of %s: %s", w.name, w.config), mendPtrace)
		}
	}
}
