package prompt

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// version is a file of a prompt's folder.
type version struct {
	Prompt
	file   string
	labels []label
	silent bool // it says nothing about labels
}

// label is a label in a file.
type label struct {
	name string
	line int
}

// OpenFolder reads a folder of prompts; see the package comment for its form. Errors: invalid, with all faults of all files, a line each.
func OpenFolder(dir string, now time.Time) (*Static, error) {
	var f faults
	var prompts []Prompt
	for _, name := range f.list(dir, "make a folder for each prompt in it, with a file for each version") {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			f.add(path, 0, "move it into a folder that is named like its prompt, as "+filepath.Join(dir, "greeting", "1.txt"), "this is a file, and each prompt is a folder")
			continue
		}
		prompts = append(prompts, f.readPrompt(name, path)...)
	}
	if err := f.err(); err != nil {
		return nil, err
	}
	return NewStatic(now, prompts...), nil
}

// list gives the names in a folder, without those that begin with a dot. There must be one.
func (f *faults) list(dir, do string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		f.add(dir, 0, "correct the path, or let gatehouse read the folder", "the folder can't be read: %v", reasonOf(err))
		return nil
	}
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		f.add(dir, 0, do, "the folder is empty")
	}
	return names
}

// readPrompt reads a prompt's folder: a Prompt for each label.
func (f *faults) readPrompt(name, dir string) []Prompt {
	var versions []version
	before := len(*f)
	for _, file := range f.list(dir, "add a file, such as 1.txt, or remove the folder") {
		ending := filepath.Ext(file)
		path := filepath.Join(dir, file)
		v := version{file: path, Prompt: Prompt{Name: name, Version: strings.TrimSuffix(file, ending)}}
		twice := slices.IndexFunc(versions, func(other version) bool { return other.Version == v.Version })
		switch {
		case twice >= 0:
			f.add(path, 0, "rename or remove one of the two", "%s has the same version %s", filepath.Base(versions[twice].file), v.Version)
			continue
		case ending == ".txt" || ending == ".md":
			f.readTextVersion(&v)
		case ending == ".yaml" || ending == ".yml":
			f.readYAMLVersion(&v)
		default:
			f.add(path, 0, "name it like 1.txt, 1.md or 1.yaml, or remove it", "this is no version of a prompt")
			continue
		}
		v.TemplateHash = HashTemplate(v.Prompt)
		versions = append(versions, v)
	}
	if len(*f) > before {
		return nil
	}
	if len(versions) == 1 && versions[0].silent {
		versions[0].labels = []label{{name: DefaultLabel}}
	}
	return f.byLabel(dir, versions)
}

// byLabel gives a Prompt for each label of the versions.
func (f *faults) byLabel(dir string, versions []version) []Prompt {
	var all []Prompt
	holder := map[string]string{}
	for _, v := range versions {
		for _, l := range v.labels {
			if other, taken := holder[l.name]; taken {
				f.add(v.file, l.line, "remove it from one of the two", "the label %s is on %s too", l.name, filepath.Base(other))
				continue
			}
			holder[l.name] = v.file
			p := v.Prompt
			p.Label = l.name
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		f.add(dir, 0, "add labels: ["+DefaultLabel+"] to one of them", "no version of this prompt has a label, so nobody can fetch it")
	}
	return all
}

// readTextVersion reads a .txt or .md file.
func (f *faults) readTextVersion(v *version) {
	text, ok := f.readText(v.file)
	if !ok {
		return
	}
	line := 1
	v.silent = true
	if head, rest, found := strings.Cut(text, "\n"); found && head == frontMatter {
		header, body, closed := strings.Cut("\n"+rest, "\n"+frontMatter+"\n")
		if !closed {
			f.add(v.file, 1, "add a line --- after the labels and sampling", "the header that begins here has no end")
			return
		}
		line = 3 + strings.Count(header, "\n")
		text = body
		r := reader{f, v.file} // its lines are the file's: header begins with a line break in place of the first one
		if root, _ := r.parse(header); root != nil {
			r.readHead(v, root, "the header")
		}
	}
	v.Template = strings.TrimSuffix(text, "\n")
	f.checkTemplate(v.file, line, false, v.Template)
}

// frontMatter is the line before and after a text file's header.
const frontMatter = "---"
