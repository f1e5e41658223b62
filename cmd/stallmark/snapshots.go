package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"stallmark/storage/snapshot"
	"stallmark/web"
)

func snapshotCommand() command {
	return command{
		name:    "snapshot",
		args:    "list|create|export ID|redact ID|import FILE...|delete ID",
		summary: "Freeze an incident, or bring frozen ones in and out",
		help: `
create   asks the running service to freeze the last minutes (--for), or from
         --from to --to, and prints the id; the page of it makes links
list     prints what is frozen, the newest first
export   writes a snapshot to -o FILE (.stallmark, or .html for one page that
         opens without a network), or to standard output
redact   makes a twin without addresses, host names, users, topics, groups and
         keys (--paths: paths too), prints its id, and with --json what was replaced
import   takes files that another instance has exported
delete   removes a snapshot and its links

A snapshot is judged again with "stallmark diagnose FILE.stallmark". An ID may be
cut to its first digits. The service is found at --listen, its token in --data.`,
		options: func(o *options) []option {
			o.duration = 15 * time.Minute
			return []option{
				{"for", "TIME", "how much is frozen, up to now", (*period)(&o.duration), true},
				{"from", "TIME", "from when, as in 2026-03-01T03:12:41Z", text(&o.from), true},
				{"to", "TIME", "until when", text(&o.to), true},
				{"o", "FILE", "where export writes", text(&o.output), true},
				{"paths", "", "replace paths as well", (*toggle)(&o.redactPaths), true},
				{"json", "", "print JSON", (*toggle)(&o.json), true},
				{"web-config", "FILE", "web configuration file of the service that create asks", text(&o.webConfig), false},
			}
		},
		run: runSnapshot,
	}
}

func runSnapshot(ctx context.Context, p *program, o *options, args []string) (int, error) {
	if len(args) == 0 {
		return exitUsage, usagef("snapshot: want list, create, export, redact, import or delete")
	}
	rest := args[1:]
	want := map[string][2]int{"list": {0, 0}, "create": {0, 0}, "export": {1, 1}, "redact": {1, 1}, "import": {1, 1000}, "delete": {1, 1}}
	n, ok := want[args[0]]
	if !ok || len(rest) < n[0] || len(rest) > n[1] {
		return exitUsage, usagef("snapshot %s: see stallmark snapshot --help", strings.Join(args, " "))
	}
	if args[0] == "create" {
		return exitCodeOf(p.createSnapshot(ctx, o))
	}
	folder, err := p.snapshotFolder(o)
	if err != nil {
		return exitUsage, err
	}
	defer folder.Close()
	switch args[0] {
	case "list":
		err = p.listSnapshots(o, folder)
	case "export":
		err = p.exportSnapshot(ctx, o, folder, rest[0])
	case "redact":
		err = p.redactSnapshot(o, folder, rest[0])
	case "import":
		err = p.importSnapshots(folder, rest)
	case "delete":
		var info snapshot.Info
		if info, err = findSnapshot(folder, rest[0]); err == nil {
			err = folder.Delete(info.ID)
		}
	}
	return exitCodeOf(err)
}

func exitCodeOf(err error) (int, error) {
	if err != nil {
		return exitUsage, err
	}
	return exitOK, nil
}

// snapshotFolder opens the folder that the service uses as well. Files in it
// are written whole or not at all, so both may.
func (p *program) snapshotFolder(o *options) (*snapshot.Folder, error) {
	if err := makeData(o.data); err != nil {
		return nil, err
	}
	f, err := snapshot.OpenFolder(snapshot.Config{Dir: snapshotFolder(o.data), Now: p.now})
	if f == nil {
		return nil, err
	}
	return f, nil
}

// findSnapshot is the one whose id begins so.
func findSnapshot(f *snapshot.Folder, prefix string) (snapshot.Info, error) {
	list, err := f.List()
	if err != nil {
		return snapshot.Info{}, err
	}
	var found []snapshot.Info
	for _, info := range list {
		if strings.HasPrefix(info.ID, prefix) && prefix != "" {
			found = append(found, info)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return snapshot.Info{}, fmt.Errorf("%s: %w", oneLine(prefix), snapshot.ErrGone)
	}
	return snapshot.Info{}, fmt.Errorf("%s: %d snapshots begin so, give more digits", oneLine(prefix), len(found))
}

func (p *program) listSnapshots(o *options, f *snapshot.Folder) error {
	list, err := f.List()
	if err != nil {
		return err
	}
	if o.json {
		type row struct {
			ID   string        `json:"id"`
			Size int64         `json:"size_bytes"`
			Meta snapshot.Meta `json:"meta"`
		}
		rows := make([]row, len(list))
		for i, info := range list {
			rows[i] = row{info.ID, info.Size, info.Meta}
		}
		enc := json.NewEncoder(p.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(rows)
	}
	if len(list) == 0 {
		fmt.Fprintf(p.stderr, "nothing is frozen in %s\n", oneLine(snapshotFolder(o.data)))
		return nil
	}
	t := tabwriter.NewWriter(p.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tFROM (UTC)\tLENGTH\tHOST\tSIZE\tBY\tTITLE")
	for _, info := range list {
		m := info.Meta
		title := oneLine(m.Title)
		if m.Redacted {
			title += " (redacted)"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d KiB\t%s\t%s\n", info.ID[:12], m.From.UTC().Format("2006-01-02 15:04:05"), m.To.Sub(m.From).Round(time.Second),
			oneLine(m.Host), (info.Size+1023)>>10, oneLine(m.By), title)
	}
	return t.Flush()
}

// exportSnapshot writes the archive, or the page of a name that ends in .html.
func (p *program) exportSnapshot(ctx context.Context, o *options, f *snapshot.Folder, id string) error {
	info, err := findSnapshot(f, id)
	if err != nil {
		return err
	}
	if strings.HasSuffix(o.output, ".html") {
		return p.writeOutput(o.output, func(w io.Writer) error { return web.ExportOf(ctx, w, f, info.ID) })
	}
	in, err := f.Raw(info.ID)
	if err != nil {
		return err
	}
	defer in.Close()
	return p.writeOutput(o.output, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
}

// redactSnapshot makes the redacted twin of a snapshot.
func (p *program) redactSnapshot(o *options, f *snapshot.Folder, id string) error {
	info, err := findSnapshot(f, id)
	if err != nil {
		return err
	}
	s, err := f.Get(info.ID)
	if err != nil {
		return err
	}
	twin, replaced, err := snapshot.Redact(s, info.ID, snapshot.Choice{Paths: o.redactPaths})
	if err != nil {
		return err
	}
	made, err := f.Put(twin)
	if err != nil {
		return err
	}
	if !o.json {
		_, err = fmt.Fprintln(p.stdout, made.ID)
		return err
	}
	return writeJSON(p.stdout, []any{map[string]any{"id": made.ID, "replaced": replaced}})
}

// writeOutput writes to a new file, or to standard output without a name.
func (p *program) writeOutput(name string, write func(io.Writer) error) error {
	if name == "" || name == "-" {
		return write(p.stdout)
	}
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(write(out), out.Close())
}

func (p *program) importSnapshots(f *snapshot.Folder, names []string) error {
	var failed error
	for _, name := range names {
		info, err := importSnapshot(f, name)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", oneLine(name), importError(err)))
			continue
		}
		fmt.Fprintln(p.stdout, info.ID)
	}
	return failed
}

// importError says what is wanted in the place of something else.
func importError(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err // the name stands before it
	}
	if errors.Is(err, snapshot.ErrNot) {
		return fmt.Errorf("%w; want a .stallmark file, or the .html page that export writes", err)
	}
	return err
}

func importSnapshot(f *snapshot.Folder, name string) (snapshot.Info, error) {
	in, err := os.Open(name)
	if err != nil {
		return snapshot.Info{}, err
	}
	defer in.Close()
	return f.Import(in)
}
