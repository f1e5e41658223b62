package logs

import (
	"errors"
	"io"
	"io/fs"
	"slices"

	"golang.org/x/sys/unix"
)

// list finds the members of all streams.
func (d *folder) list() (map[string][]member, error) {
	if _, err := d.dir.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	names, err := d.dir.Readdirnames(maxNames)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	there := make(map[string]bool, len(names))
	for _, n := range names {
		there[n] = true
	}
	found := map[string][]member{}
	for _, n := range names {
		base, ok := baseOf(n, d.target.Names, func(c string) bool { return there[c] })
		if !ok || matchesAny(base, d.target.Except) {
			continue
		}
		if m, err := d.memberAt(n); err == nil {
			found[base] = addMember(found[base], m, base)
		}
	}
	return found, nil
}

// addMember adds a file, once if it has several names.
func addMember(ms []member, m member, base string) []member {
	at := slices.IndexFunc(ms, func(o member) bool { return o.inode == m.inode })
	switch {
	case at < 0:
		return append(ms, m)
	case m.name == base:
		ms[at] = m
	}
	return ms
}

// memberAt looks at a name; a link is what it leads to.
func (d *folder) memberAt(name string) (member, error) {
	i, err := infoAt(d.dir.fd, name)
	if err != nil {
		return member{}, err
	}
	if i.link {
		f, err := d.opener.open(joined(d.path, name))
		if err != nil {
			return member{}, err
		}
		defer f.Close()
		if i, err = infoOf(int(f.Fd())); err != nil {
			return member{}, err
		}
	}
	if !i.regular {
		return member{}, errNotRegular
	}
	_, packed := unpackedName(name)
	return member{i, name, packed}, nil
}

// stable lists the members of a stream until two listings agree: names change
// in several steps while logs are rotated.
func (d *folder) stable(base string) []member {
	var last []member
	for range 5 {
		found, err := d.list()
		if err != nil {
			return last
		}
		now := found[base]
		byAge(now)
		if slices.EqualFunc(now, last, func(a, b member) bool { return a.inode == b.inode && a.name == b.name }) {
			return now
		}
		last = now
	}
	return last
}

// openMember opens what memberAt saw, and nothing else under its name.
func (d *folder) openMember(m member) (fileOf, error) {
	f, err := d.opener.open(joined(d.path, m.name))
	if err != nil {
		return fileOf{}, err
	}
	h := handleOf(f)
	i, err := infoOf(h.fd)
	if err == nil && i.inode != m.inode {
		err = &fs.PathError{Op: "open", Path: m.name, Err: unix.ESTALE}
	}
	if err != nil {
		f.Close()
		return fileOf{}, err
	}
	return h, nil
}
