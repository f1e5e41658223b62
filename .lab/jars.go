package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// jars copies a broker's jars and its client library from Maven Central, once.
func jars(ctx context.Context, o options, product, version string) (string, error) {
	folder := filepath.Join(o.dir, "jars", product+"-"+version)
	if list, _ := filepath.Glob(filepath.Join(folder, "*.jar")); len(list) > 10 {
		return folder, nil
	}
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return "", errors.New("there is no mvn: the brokers come from Maven Central; install Maven (apt-get install maven), and a JDK 17 or later")
	}
	if _, err := exec.LookPath("java"); err != nil {
		return "", errors.New("there is no java: install a JDK 17 or later (apt-get install openjdk-17-jdk-headless)")
	}
	fresh := folder + ".partial"
	if err := os.RemoveAll(fresh); err != nil {
		return "", err
	}
	c := exec.CommandContext(ctx, mvn, "-q", "-B", "-f", filepath.Join(o.sources, "maven", "pom.xml"), "-P", profiles(product, version),
		"-Dbroker.version="+version, "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+fresh)
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("Maven does not bring %s %s: %w\n%s", product, version, err, firstErrors(out))
	}
	return folder, os.Rename(fresh, folder)
}

// profiles are the parts of the pom: the product, and what its distribution logs with.
func profiles(product, version string) string {
	switch {
	case product != "kafka":
		return product
	case strings.HasPrefix(version, "3."):
		return "kafka,reload4j"
	}
	return "kafka,log4j2"
}

// firstErrors are the lines of Maven's output that say what is wrong.
func firstErrors(out []byte) string {
	var list []string
	for line := range bytes.Lines(out) {
		if bytes.Contains(line, []byte("[ERROR]")) && len(list) < 2 {
			list = append(list, strings.TrimSpace(string(line)))
		}
	}
	return strings.Join(list, "\n")
}
