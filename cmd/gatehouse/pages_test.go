package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gatehouse/cmd/gatehouse/internal/manual"
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

// TestPagesThatTheCodeNames: each gatehouse help PAGE#SECTION in an error, in a line of doctor or on a page prints
// something. So does each that is put together in a platform's name.
func TestPagesThatTheCodeNames(t *testing.T) {
	names := []string{}
	for _, d := range platforms() {
		if _, ok := d.(withPage); ok {
			names = append(names, "adapters/"+d.Name())
		}
	}
	command := regexp.MustCompile(`gatehouse help (?:" \+\s*")?([a-z]+/[a-z/]+|[a-z]+#)(#?[a-z-]*)`)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || strings.HasSuffix(path, "_test.go") ||
			!strings.HasSuffix(path, ".go") && d.Name() != "README.md" && d.Name() != "config.example.env" {
			return err
		}
		for _, m := range command.FindAllStringSubmatch(readFile(path), -1) {
			names = append(names, m[1]+m[2])
		}
		return nil
	})
	if err != nil || len(names) < 20 {
		t.Fatalf("%v; the pages that are named are %q", err, names)
	}
	for _, name := range names {
		room, section, _ := strings.Cut(name, "#")
		page, ok := pageOf(room)
		if _, there := page.Section(section); !ok || section != "" && !there {
			t.Errorf("there is no page %s", name)
		}
	}
}

// TestThePagesOfHelp: the program has each page that says something to those who have only the program.
func TestThePagesOfHelp(t *testing.T) {
	for name, text := range pages(t) {
		page, ok := pageOf(filepath.Dir(name))
		need := name != "README.md" && name != "cmd/bench/README.md" && !strings.HasPrefix(name, "storage/")
		if ok != need || ok && page.Text != text {
			t.Errorf("help has %s: %t", name, ok)
		}
		if ok && len(page.Print(manual.Style{Width: 80})) < len(text)/2 {
			t.Errorf("of %s too little is printed", name)
		}
	}
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
			} else if section != "" && !slices.Contains(manual.Page{Text: all[target]}.Anchors(), section) {
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
