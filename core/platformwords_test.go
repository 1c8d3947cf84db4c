package core_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// How much of the product's code may name a platform outside its folder: the list of them, and little else.
const (
	maxPlatformLines = 5
	maxPlatformFiles = 2
)

var (
	platformWord    = regexp.MustCompile(`slack\.|discord\.|"slack|"discord|slack:|discord:|\.slack|\.discord`)
	platformFolders = regexp.MustCompile(
		`_test\.go$|^adapters/(slack|discord|internal/fakeserver)/|^cmd/(bench|conformance)/`)
)

// TestLaw10_NoPlatformIsNamedOutsideItsFolder: a platform is a value. Comments, tests and kits may name one.
func TestLaw10_NoPlatformIsNamedOutsideItsFolder(t *testing.T) {
	var lines []string
	files := map[string]bool{}
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel("..", file)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && rel != ".":
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(rel, ".go") || platformFolders.MatchString(rel):
			return nil
		}
		text, err := os.ReadFile(file)
		for n, line := range strings.Split(string(text), "\n") {
			code, _, _ := strings.Cut(line, "//")
			lower := strings.ToLower(code)
			if !strings.Contains(lower, "slack") && !strings.Contains(lower, "discord") {
				continue // the expression is slow
			}
			if platformWord.MatchString(lower) {
				files[rel] = true
				lines = append(lines, fmt.Sprintf("%s:%d: %s", rel, n+1, strings.TrimSpace(code)))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) > maxPlatformLines || len(files) > maxPlatformFiles {
		t.Errorf("%d lines in %d files name a platform; at most %d in %d may:\n%s",
			len(lines), len(files), maxPlatformLines, maxPlatformFiles, strings.Join(lines, "\n"))
	}
}
