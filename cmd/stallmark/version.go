package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
)

func versionCommand() command {
	return command{
		name:    "version",
		summary: "Print the version",
		options: func(o *options) []option {
			return []option{{"json", "", "print JSON", (*toggle)(&o.json), true}}
		},
		run: runVersion,
	}
}

func runVersion(_ context.Context, p *program, o *options, args []string) (int, error) {
	if len(args) > 0 {
		return exitUsage, usagef("version takes no arguments")
	}
	if o.json {
		return exitOK, json.NewEncoder(p.stdout).Encode(map[string]string{
			"version": p.version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
		})
	}
	fmt.Fprintf(p.stdout, "stallmark %s (%s, %s/%s)\n", p.version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return exitOK, nil
}
