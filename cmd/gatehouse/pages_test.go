package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pages are the READMEs of the project by their paths from its root, without those of testdata.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if err == nil && d.Name() == "README.md" {
			name, _ := filepath.Rel("../..", path)
			all[name] = readFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// anchors are the names by which links reach the sections of a page, as GitHub makes them.
func anchors(page string) map[string]bool {
	all := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		name := strings.ToLower(strings.ReplaceAll(m[1], "`", ""))
		name = regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(name, "")
		all[strings.ReplaceAll(name, " ", "-")] = true
	}
	return all
}

// TestLinksOfThePages: each link between pages, and to a file of the project, leads somewhere.
func TestLinksOfThePages(t *testing.T) {
	all, link := pages(t), regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"`)
	for name, page := range all {
		for _, m := range link.FindAllStringSubmatch(page, -1) {
			path, section, _ := strings.Cut(m[1]+m[2], "#")
			if strings.Contains(path, ":") {
				continue // another site
			}
			target := name
			if path != "" {
				target = filepath.Join(filepath.Dir(name), path)
			}
			if _, err := os.Stat(filepath.Join("../..", target)); err != nil {
				t.Errorf("%s links to %s, which is not there", name, target)
			} else if section != "" && !anchors(all[target])[section] {
				t.Errorf("%s links to the section %s of %s, which is not there", name, section, target)
			}
		}
	}
}

// TestTheFirstPageIsShort: at most 200 lines and 2,000 words, and it links to each of the others that are for users.
func TestTheFirstPageIsShort(t *testing.T) {
	all := pages(t)
	first := all["README.md"]
	if lines, words := strings.Count(first, "\n"), len(strings.Fields(first)); lines > 200 || words > 2000 {
		t.Errorf("README.md has %d lines and %d words", lines, words)
	}
	for name := range all {
		if name != "README.md" && !strings.HasPrefix(name, "storage/") && !strings.Contains(first, "("+name) {
			t.Errorf("README.md does not link to %s", name)
		}
	}
}
