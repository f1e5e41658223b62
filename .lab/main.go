// Lab runs real brokers beside Stallmark, stalls them, and prints what was said. `make lab` is how it is started.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// options are what the command line says.
type options struct {
	brokers, cases   []string
	dir              string
	stallmark, drill string
	rules            string
	sources          string // where this program's own files are
	keep, record     bool
}

const usage = `lab runs real brokers beside Stallmark, stalls them, and prints what was said.

Usage: lab [options]

The brokers come from Maven Central into --dir. Their stores, logs and data stay below --dir.
Some cases lower the host's dirty limits for half a minute: run it as root on a machine that nobody needs meanwhile.

`

func main() {
	// A child dies with the thread that started it, so all are started from this one.
	runtime.LockOSThread()
	o, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("lab", flag.ContinueOnError)
	brokers := f.String("brokers", "rocketmq-5.3.3,kafka-3.9.1,rocketmq-4.9.4,kafka-4.1.1", "which `BROKERS`: product-version, separated by commas")
	cases := f.String("cases", "", "which `CASES`; all of a broker's if empty")
	f.StringVar(&o.dir, "dir", ".build/lab", "`DIR` for everything that is made")
	f.StringVar(&o.stallmark, "stallmark", "bin/stallmark", "the `PROGRAM` under test")
	f.StringVar(&o.drill, "stalldrill", "bin/stalldrill", "the `PROGRAM` that provokes")
	f.StringVar(&o.rules, "rules", "", "`DIR` with more signatures, handed on to serve")
	f.StringVar(&o.sources, "sources", ".lab", "`DIR` of this program's own files")
	f.BoolVar(&o.keep, "keep", false, "keep stores and data folders of brokers")
	f.BoolVar(&o.record, "record", false, "make a recording of each case too")
	f.Usage = func() {
		fmt.Fprint(f.Output(), usage)
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil {
		return o, err
	}
	o.brokers = split(*brokers)
	o.cases = split(*cases)
	for _, p := range []*string{&o.dir, &o.stallmark, &o.drill, &o.sources} {
		if *p, err = filepath.Abs(*p); err != nil {
			return o, err
		}
	}
	return o, nil
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// run tries one broker after another: memory and disk are for one at a time.
func run(ctx context.Context, o options) error {
	var all []row
	for _, name := range o.brokers {
		rows, err := tryBroker(ctx, o, name)
		all = append(all, rows...)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			all = append(all, row{Broker: name, Case: "start", Wrong: []string{err.Error()}})
		}
	}
	table(os.Stdout, all)
	if err := keep(filepath.Join(o.dir, "table.json"), all); err != nil {
		return err
	}
	if n := wrong(all); n > 0 || ctx.Err() != nil {
		return fmt.Errorf("%d of %d cells are wrong", n, len(all))
	}
	return nil
}
