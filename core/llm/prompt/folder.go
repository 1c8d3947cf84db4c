package prompt

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"gatehouse/core/strictyaml"
)

// reader reads the files of a folder, one after another.
type reader struct {
	strictyaml.Reader
	variables []string // that the templates of the file may use; nil: any
}

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
	at   *yaml.Node // nil: it is not written
}

// OpenFolder reads a folder of prompts; see the package comment for its form. Errors: strictyaml.Faults, all of all
// files.
func OpenFolder(dir string, now time.Time) (*Static, error) {
	var r reader
	var prompts []Prompt
	for _, name := range r.list(dir, "make a folder for each prompt in it, with a file for each version") {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			r.faultOf(path,
				"move it into a folder that is named like its prompt, as "+filepath.Join(dir, "greeting", "1.txt"),
				"this is a file, and each prompt is a folder")
			continue
		}
		prompts = append(prompts, r.readPrompt(name, path)...)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return NewStatic(now, prompts...), nil
}

// faultOf reports what is wrong with a file or folder as a whole.
func (r *reader) faultOf(path, do, what string, args ...any) {
	r.File = path
	r.Fault(nil, do, what, args...)
}

// list gives the names in a folder, without those that begin with a dot. There must be one.
func (r *reader) list(dir, do string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		r.faultOf(dir, "correct the path, or let gatehouse read the folder", "the folder can't be read: %v",
			errors.Unwrap(err))
		return nil
	}
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		r.faultOf(dir, do, "the folder is empty")
	}
	return names
}

// readPrompt reads a prompt's folder: a Prompt for each label.
func (r *reader) readPrompt(name, dir string) []Prompt {
	if r.variables = nil; name == systemName {
		r.variables = systemVariables
	}
	var versions []*version
	before := len(r.Faults)
	for _, file := range r.list(dir, "add a file, such as 1.txt, or remove the folder") {
		ending := filepath.Ext(file)
		v := &version{
			file: filepath.Join(dir, file), Prompt: Prompt{Name: name, Version: strings.TrimSuffix(file, ending)},
		}
		twice := slices.IndexFunc(versions, func(other *version) bool { return other.Version == v.Version })
		switch {
		case twice >= 0:
			r.faultOf(v.file, "rename or remove one of the two", "%s has the same version %s",
				filepath.Base(versions[twice].file), v.Version)
			continue
		case ending == ".txt" || ending == ".md":
			r.readText(v)
		case ending == ".yaml" || ending == ".yml":
			r.readYAML(v)
		default:
			r.faultOf(v.file, "name it like 1.txt, 1.md or 1.yaml, or remove it", "this is no version of a prompt")
			continue
		}
		v.TemplateHash = HashTemplate(v.Prompt)
		versions = append(versions, v)
	}
	if len(r.Faults) > before {
		return nil
	}
	if len(versions) == 1 && versions[0].silent {
		versions[0].labels = []label{{name: DefaultLabel}}
	}
	return r.byLabel(dir, versions)
}

// byLabel gives a Prompt for each label of the versions.
func (r *reader) byLabel(dir string, versions []*version) []Prompt {
	var all []Prompt
	holder := map[string]string{}
	for _, v := range versions {
		for _, l := range v.labels {
			if other, taken := holder[l.name]; taken {
				r.File = v.file
				r.Fault(l.at, "remove it from one of the two", "the label %s is on %s too", l.name,
					filepath.Base(other))
				continue
			}
			holder[l.name] = v.file
			p := v.Prompt
			p.Label = l.name
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		r.faultOf(dir, "add labels: ["+DefaultLabel+"] to one of them",
			"no version of this prompt has a label, so nobody can fetch it")
	}
	return all
}
