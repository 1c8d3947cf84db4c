package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gatehouse/cmd/conformance/internal/fixture"
)

// unsupportedSuites are the capabilities whose fixtures are not supported.
var unsupportedSuites = []string{"pipeline-utilities", "retrieval-provider"}

// capabilities are the known folders of fixtures.
var capabilities = append(
	[]string{
		"harness-chat", "harness", "sessions", "suspension", "graph-engine", promptSuite, providerSuite,
		"observability",
	}, unsupportedSuites...)

// implied are the capabilities that keys of a fixture imply; the first key that is present counts.
var implied = []struct{ key, capability string }{
	{"mock_provider", providerSuite}, {"backends", promptSuite}, {"calls_llm", "observability"},
	{"chat_turns", "harness-chat"}, {"transmissions", "harness"},
	{"suspend_with_descriptor", "suspension"}, {"resume_invocation", "suspension"},
	{"conditional_suspend", "suspension"}, {"session_store", "sessions"},
}

// collect finds the YAML files under the arguments, in order within each folder.
func collect(args []string) ([]string, error) {
	var files []string
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, arg)
			continue
		}
		found := len(files)
		// the trailing separator makes WalkDir follow a link to a folder
		err = filepath.WalkDir(arg+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && (strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml")) {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(files) == found {
			return nil, fmt.Errorf("there are no fixtures in %s", arg)
		}
	}
	return files, nil
}

// capabilityOf returns the nearest folder of a known name above the file, or else the capability that the file's own
// keys imply.
func capabilityOf(path string, root *fixture.Node) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	folders := strings.Split(filepath.ToSlash(filepath.Dir(abs)), "/")
	for _, name := range slices.Backward(folders) {
		if slices.Contains(capabilities, name) {
			return name
		}
	}
	for _, i := range implied {
		if root.Mentions(i.key) {
			return i.capability
		}
	}
	return "graph-engine"
}
