package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxConfig is the largest configuration file in bytes.
const maxConfig = 1 << 20

// loadConfig reads the configuration file, if one is named, and sets what the
// command line has not.
func (o *options) loadConfig() error {
	if o.config == "" {
		return o.check()
	}
	f, err := os.Open(o.config)
	if err != nil {
		return usageError{err}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err == nil && len(data) > maxConfig {
		err = errors.New("more than 1 MiB")
	}
	if err == nil {
		err = o.apply(data)
	}
	if err != nil {
		return usagef("%s: %w", o.config, err)
	}
	return o.check()
}

// apply sets options from YAML. Errors begin with line:column.
func (o *options) apply(data []byte) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return err
	}
	if len(doc.Content) == 0 {
		return nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return at(root, "want a mapping of options")
	}
	table := o.fileTable()
	seen := map[string]bool{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		n := slices.IndexFunc(table, func(opt option) bool { return opt.name == key.Value && !opt.local })
		switch {
		case n < 0:
			return at(key, "there is no option %q; options are %s", key.Value, fileNames(table))
		case seen[key.Value]:
			return at(key, "%s is there twice", key.Value)
		}
		seen[key.Value] = true
		if o.set[key.Value] {
			continue
		}
		if err := setFrom(table[n], value); err != nil {
			return err
		}
	}
	return nil
}

// setFrom sets one option from a scalar or, if it may be repeated, from a list.
func setFrom(opt option, value *yaml.Node) error {
	items := []*yaml.Node{value}
	if _, repeated := opt.value.(*list); repeated && value.Kind == yaml.SequenceNode {
		items = value.Content
	}
	for _, item := range items {
		if item.Kind != yaml.ScalarNode {
			return at(item, "%s: want a plain value", opt.name)
		}
		if err := opt.value.Set(item.Value); err != nil {
			return at(item, "%s: %q: %w", opt.name, item.Value, err)
		}
	}
	return nil
}

func fileNames(table []option) string {
	var names []string
	for _, opt := range table {
		if !opt.local {
			names = append(names, opt.name)
		}
	}
	return strings.Join(names, ", ")
}

// at is an error with a place in the file.
func at(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%d:%d: %w", n.Line, n.Column, fmt.Errorf(format, args...))
}

// check refuses values that no command can work with.
func (o *options) check() error {
	switch {
	case o.interval < minInterval:
		return usagef("--interval %v: want at least %v", o.interval, minInterval)
	case o.interval > maxInterval:
		return usagef("--interval %v: want at most %v", o.interval, maxInterval)
	}
	for _, text := range o.logs {
		if _, err := parseLogOption(text); err != nil {
			return usagef("--log %s: %w", text, err)
		}
	}
	for _, dir := range o.rules {
		if info, err := os.Stat(dir); err != nil {
			return usagef("--rules %s: %w", dir, err)
		} else if !info.IsDir() {
			return usagef("--rules %s: not a folder", dir)
		}
	}
	return nil
}
