package main

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// TestTheFilesOfDeployNameSettings: each setting that they name is one.
func TestTheFilesOfDeployNameSettings(t *testing.T) {
	files := []string{"../../Dockerfile"}
	noErr(t, filepath.WalkDir("deploy", func(path string, d fs.DirEntry, err error) error {
		if d.IsDir() && d.Name() == "check" {
			return fs.SkipDir // what is checked there are these
		}
		if !d.IsDir() {
			files = append(files, path)
		}
		return err
	}))
	keys, named := source.Keys(), 0
	setting := regexp.MustCompile(`\b(?:GATEHOUSE|SLACK|DISCORD|OPENAI|ANTHROPIC|OTEL)_[A-Z_]+\b`)
	for _, file := range files {
		for _, key := range setting.FindAllString(readFile(file), -1) {
			if named++; !slices.Contains(keys, key) {
				t.Errorf("%s names %s, which is no setting", file, key)
			}
		}
	}
	if named < 20 {
		t.Errorf("%v name %d settings", files, named)
	}
}
