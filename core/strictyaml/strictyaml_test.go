package strictyaml_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"gatehouse/core"
	"gatehouse/core/strictyaml"
)

// read reads a file of two keys, as a package does that has such files: a name, and a list of words.
func read(r *strictyaml.Reader, text string) (name string, words []string) {
	root := r.Parse([]byte(text), "begin with version: 1")
	if root == nil {
		return "", nil
	}
	parts := r.Values(root, "the file", "version", "name", "words", "flag", "any")
	if root.Kind == yaml.MappingNode {
		r.Version(root, parts["version"])
	}
	if v := parts["name"]; v != nil {
		name, _ = r.Text(v, "name", "ann")
	}
	if v := parts["words"]; v != nil {
		for _, item := range r.List(v, "words", "[red]") {
			if word, ok := r.Word(item, "word", []string{"red", "green", "blue"}); ok {
				words = append(words, word)
			}
		}
	}
	if v := parts["flag"]; v != nil {
		r.Bool(v, "flag")
	}
	if v := parts["any"]; v != nil {
		r.JSON(v, "any")
	}
	return name, words
}

func TestAFileIsRead(t *testing.T) {
	r := strictyaml.Reader{File: "f.yaml"}
	name, words := read(&r,
		"version: 1\nname: ann\nwords:\n  - &r red\n  - *r\n  - blue\nflag: yes\nany: {a: [1, x]}\n")
	if err := r.Err(); err == nil || err.Error() != `f.yaml:7:7: flag is "yes"; write true or false` {
		t.Errorf("%v", err)
	}
	if name != "ann" || strings.Join(words, " ") != "red red blue" {
		t.Errorf("%s, %v", name, words)
	}
}

// TestFaults: each has its place and its remedy, and all come at once, in the order of their places.
func TestFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":            "f.yaml:1: the file is empty; begin with version: 1",
		"# nothing\n": "f.yaml:1: the file is empty; begin with version: 1",
		"a: [\n": "f.yaml:1: the file is no valid YAML: did not find expected node " +
			"content; correct the YAML there or just before it",
		"version: 1\n---\nname: ann\n": "f.yaml:2:1: the file has several documents; remove the line --- and " +
			"what follows it",
		"[1]": "f.yaml:1:1: the file is a list, not a mapping; write it as keys and " +
			"values",
		"name: ann\n":              "f.yaml:1:1: the version is missing; add version: 1",
		"version: '1'\n":           `f.yaml:1:10: unknown version "1"; write version: 1`,
		"version: 1\nnames: ann\n": `f.yaml:2:1: unknown key "names" in the file; did you mean name?`,
		"version: 1\nNAME: ann\n":  `f.yaml:2:1: unknown key "NAME" in the file; did you mean name?`,
		"version: 1\nunrelated: ann\n": `f.yaml:2:1: unknown key "unrelated" in the file; use one of version, ` +
			`name, words, flag, any`,
		"version: 1\nname: a\nname: b\n": `f.yaml:3:1: the key "name" is there twice, in line 2 too; remove one ` +
			`of the two`,
		"version: 1\n[a]: b\n":          "f.yaml:2:1: a key of the file is a list; use a plain word as the key",
		"version: 1\n<<: {name: ann}\n": "f.yaml:2:1: << can't be used here; write the keys out",
		"version: 1\nname: ' '\n":       "f.yaml:2:7: name is empty; write a text, such as ann",
		"version: 1\nname: {}\n":        "f.yaml:2:7: name is a mapping, not a text; write a text, such as ann",
		"version: 1\nwords: red\n":      `f.yaml:2:8: words is "red", not a list; write it as a list, such as [red]`,
		"version: 1\nwords: []\n": "f.yaml:2:8: words is an empty list; add to it, such as [red], or leave " +
			"the key out",
		"version: 1\nany:\n  1: a\n  1: b": `f.yaml:4: any can't be read: mapping key "1" already defined at line ` +
			`3; correct it`,
		"version: 1\nany: {[a]: b}\n": "f.yaml:2:6: any can't be read: invalid map key: []interface {}{\"a\"}; " +
			"correct it",
		"version: 1\nany: .nan\n": "f.yaml:2:6: any can't be written as JSON: json: unsupported value: " +
			"NaN; use texts as keys, and numbers that JSON has",
		"words: [rd, 'a\nb']\nname:\n": "f.yaml:1:1: the version is missing; add version: 1\nf.yaml:1:9: " +
			"unknown word \"rd\"; did you mean red?\nf.yaml:1:13: unknown word \"a b\"; use one of red, green, " +
			"blue\nf.yaml:3:6: name is empty; write a text, such as ann",
		strings.Repeat(" ", 1<<20) + "a: b": "f.yaml: the file is too large; keep it under 1 MiB",
		"version: 1\nname: &n [*n]\nwords: [" + strings.Repeat("*n,", 200_000) +
			"]": "f.yaml:2:7: name is a list, not a text; write a text, such as ann\n" +
			"f.yaml:2:7: word is a list, not a text; write a text, such as red\nf.yaml:3:599988: the file has more " +
			"than 200000 values, with all that it repeats written out; use fewer values and aliases",
	} {
		r := strictyaml.Reader{File: "f.yaml"}
		read(&r, text)
		if err := r.Err(); err == nil || err.Error() != want || core.CategoryOf(err) != core.Invalid {
			t.Errorf("%.60q:\n%.600v\nwant\n%s", text, err, want)
		}
	}
}

func TestFilesThatCantBeRead(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large.yaml")
	if err := os.WriteFile(large, make([]byte, 1<<20+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none.yaml"): "the file can't be read: no such file or directory; correct the path, or " +
			"let gatehouse read the file",
		dir:   "the file can't be read: is a directory; name a file that gatehouse can read",
		large: "the file is too large; keep it under 1 MiB",
	} {
		r := strictyaml.Reader{File: path}
		if _, ok := r.ReadFile(); ok || r.Err() == nil || r.Err().Error() != path+": "+want {
			t.Errorf("%v", r.Err())
		}
	}
}

// FuzzRead: no text makes a reader panic, and each fault says where it is and what to do.
func FuzzRead(f *testing.F) {
	f.Add("version: 1\nname: &a ann\nwords: [*a, red]\nany: {<<: *a, 1: .nan}\n")
	f.Add("? [a]\n: !!binary x\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		r := strictyaml.Reader{File: "f.yaml"}
		read(&r, text)
		var faults strictyaml.Faults
		if err := r.Err(); err != nil && !errors.As(err, &faults) {
			t.Fatal(err)
		}
		for _, fault := range faults {
			if fault.What == "" || fault.Do == "" || fault.Column > 0 && fault.Line == 0 ||
				strings.Contains(fault.String(), "\n") {
				t.Errorf("%q: %s", text, fault)
			}
		}
	})
}
